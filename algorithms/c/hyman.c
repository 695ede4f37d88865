// hyman: Hyman's algorithm, published in 1966 as a simplification of Dekker's, and wrong
// property: at most one thread is in the critical section
// expect sc: violated (a thread takes the turn after the other has looked at it)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC, as mutex/hyman.fen)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int want[2], turn, owner;

static void *worker(void *arg)
{
    int me = (int)(long)arg;

    want[me] = 1;
    while (turn != me) {
        while (want[1 - me])
            ;
        turn = me;
    }
    owner = me;
    assert(owner == me);
    want[me] = 0;
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
