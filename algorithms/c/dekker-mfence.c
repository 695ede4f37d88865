// dekker-mfence: Dekker's algorithm on volatile variables with mfence, as written for x86
// property: at most one thread is in the critical section
// expect sc: correct (classic)
// expect tso: correct (a fence behind each place that raises the flag)
// expect tso: cost 0 (mutex/dekker.fen has its two fences here)
// expect pso: violated (the flag is lowered before owner is out)
// expect pso: cost 1 (behind the critical section, before the flag is lowered)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define mb() asm volatile("mfence" ::: "memory")
#define barrier() asm volatile("" ::: "memory")

static volatile int flag[2], turn;
static volatile int owner;

static void *worker(void *arg)
{
    int me = (int)(long)arg, other = me ^ 1;

    for (int round = 0; round < 2; round++) {
        flag[me] = 1;
        mb();
        while (flag[other]) {
            if (turn == me)
                continue;
            flag[me] = 0;
            while (turn != me)
                ;
            flag[me] = 1;
            mb();
        }
        barrier();
        owner = me;
        assert(owner == me);
        barrier();
        turn = other;
        flag[me] = 0;
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
