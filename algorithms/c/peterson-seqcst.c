// peterson-seqcst: Peterson's algorithm on _Atomic variables used by plain operators
// property: no increment is lost
// expect sc: correct (classic)
// expect tso: correct (every assignment is followed by a fence)
// expect tso: cost 0 (correct already)
// expect pso: correct (as under TSO)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static _Atomic int flag[2], turn;
static int counter;

static void *worker(void *arg)
{
    int me = *(int *)arg, other = !me;

    flag[me] = 1;
    turn = other;
    while (flag[other] && turn == other)
        ;
    counter++;
    flag[me] = 0;

    flag[me] |= 1;
    turn = other;
    while (flag[other] && turn == other)
        ;
    counter++;
    flag[me]--;
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int id[] = { 0, 1 };

    for (unsigned i = 0; i < sizeof id / sizeof id[0]; i++)
        pthread_create(&t[i], NULL, worker, &id[i]);
    for (unsigned i = 0; i < sizeof id / sizeof id[0]; i++)
        pthread_join(t[i], NULL);
    assert(counter == 4);
    return 0;
}
