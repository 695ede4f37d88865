// filter-3: the filter lock, Peterson's idea level by level, three threads of one round
// property: at most one thread is in the critical section
// expect sc: correct (classic)
// expect tso: violated (the loads overtake the own stores)
// expect tso: cost 1 (as mutex/filter-3.fen; behind the store to victim)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (as mutex/filter-3.fen; and between level and victim)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define N 3

static atomic_int level[N], victim[N];
static atomic_int owner;

static bool must_wait(int me, int l)
{
    for (int k = 0; k < N; k++) {
        if (k == me)
            continue;
        if (atomic_load_explicit(&level[k], memory_order_relaxed) >= l
            && atomic_load_explicit(&victim[l], memory_order_relaxed) == me)
            return true;
    }
    return false;
}

static void *worker(void *arg)
{
    int me = (int)(long)arg;

    for (int l = 1; l < N; l++) {
        atomic_store_explicit(&level[me], l, memory_order_relaxed);
        atomic_store_explicit(&victim[l], me, memory_order_relaxed);
        while (must_wait(me, l))
            ;
    }
    atomic_store_explicit(&owner, me, memory_order_relaxed);
    assert(atomic_load_explicit(&owner, memory_order_relaxed) == me);
    atomic_store_explicit(&level[me], 0, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t[N];

    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}
