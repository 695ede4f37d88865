// burns: Burns' algorithm, one bit a thread, those with smaller numbers first, relaxed orders
// property: at most one thread is in the critical section
// expect sc: correct (classic)
// expect tso: violated (the load of the other flag overtakes the own store)
// expect tso: cost 1 (as mutex/burns-2.fen; behind the store that raises the flag)
// expect pso: violated (as under TSO)
// expect pso: cost 1 (as mutex/burns-2.fen; leaving is a release)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define N 2

static _Atomic uint8_t flag[N];
static int owner;

static void burns_lock(int i)
{
    int j;

again:
    atomic_store_explicit(&flag[i], 0, memory_order_relaxed);
    for (j = 0; j < i; j++)
        if (atomic_load_explicit(&flag[j], memory_order_relaxed))
            goto again;
    atomic_store_explicit(&flag[i], 1, memory_order_relaxed);
    for (j = 0; j < i; j++)
        if (atomic_load_explicit(&flag[j], memory_order_relaxed))
            goto again;
    for (j = i + 1; j < N; j++)
        while (atomic_load_explicit(&flag[j], memory_order_relaxed))
            ;
}

static void *worker(void *arg)
{
    intptr_t i = (intptr_t)arg;

    for (int round = 0; round < 2; round++) {
        burns_lock((int)i);
        owner = (int)i;
        assert(owner == i);
        atomic_store_explicit(&flag[i], 0, memory_order_release);
    }
    return 0;
}

int main(void)
{
    pthread_t t[N];

    for (intptr_t i = 0; i < N; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], 0);
    return 0;
}
