// peterson: Peterson's algorithm, the last one to offer the turn waits, relaxed orders and no fences
// property: at most one thread is in the critical section
// expect sc: correct (classic)
// expect tso: violated (the loads overtake the own stores)
// expect tso: cost 1 (as mutex/peterson.fen; behind the store to turn)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (as mutex/peterson.fen; and between flag and turn)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool flag[2];
static atomic_int turn;
static atomic_int inside;

static void lock(int me)
{
    int other = 1 - me;

    atomic_store_explicit(&flag[me], true, memory_order_relaxed);
    atomic_store_explicit(&turn, other, memory_order_relaxed);
    while (atomic_load_explicit(&flag[other], memory_order_relaxed)
           && atomic_load_explicit(&turn, memory_order_relaxed) == other)
        ;
}

static void unlock(int me)
{
    atomic_store_explicit(&flag[me], false, memory_order_relaxed);
}

static void *worker(void *arg)
{
    int me = (int)(long)arg;

    for (int round = 0; round < 2; round++) {
        lock(me);
        int n = atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
        assert(n == 0);
        atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
        unlock(me);
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
