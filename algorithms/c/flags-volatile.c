// flags-volatile: one volatile flag each, who finds the other's flag up gives up, no fences
// property: at most one thread is in the critical section
// expect sc: correct (each raises its flag before it looks)
// expect tso: violated (the load of the other flag overtakes the own store)
// expect tso: cost 1 (as mutex/simple-dekker.fen; behind the store that raises the flag)
// expect pso: violated (as under TSO)
// expect pso: cost 1 (the flag is never lowered again by who was inside, so that nothing has to be kept in order)

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static volatile bool up[2];
static volatile int owner;

static bool try_enter(int me)
{
    up[me] = true;
    if (up[1 - me]) {
        up[me] = false;
        return false;
    }
    return true;
}

static void *worker(void *arg)
{
    int me = *(int *)arg;

    if (!try_enter(me))
        return NULL;
    owner = me;
    assert(owner == me);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int id[2] = { 0, 1 };

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &id[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
