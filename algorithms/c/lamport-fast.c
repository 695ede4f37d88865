// lamport-fast: Lamport's fast algorithm, constant work for a thread that finds no rival, two threads of two rounds
// property: at most one thread is in the critical section
// expect sc: correct (classic)
// expect tso: violated (the loads overtake the own stores)
// expect tso: cost 2 (as mutex/lamport-fast.fen; behind the store to x and behind the own number in y)
// expect pso: violated (as under TSO)
// expect pso: cost 3 (as mutex/lamport-fast.fen; and between the two stores that leave)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define NOBODY 0
#define rlx memory_order_relaxed

static atomic_int x, y, b[3], owner;

static void lock(int i)
{
start:
    atomic_store_explicit(&b[i], 1, rlx);
    atomic_store_explicit(&x, i, rlx);
    if (atomic_load_explicit(&y, rlx) != NOBODY) {
        atomic_store_explicit(&b[i], 0, rlx);
        while (atomic_load_explicit(&y, rlx) != NOBODY)
            ;
        goto start;
    }
    atomic_store_explicit(&y, i, rlx);
    if (atomic_load_explicit(&x, rlx) != i) {
        atomic_store_explicit(&b[i], 0, rlx);
        while (atomic_load_explicit(&b[3 - i], rlx))
            ;
        if (atomic_load_explicit(&y, rlx) != i) {
            while (atomic_load_explicit(&y, rlx) != NOBODY)
                ;
            goto start;
        }
    }
}

static void unlock(int i)
{
    atomic_store_explicit(&y, NOBODY, memory_order_release);
    atomic_store_explicit(&b[i], 0, rlx);
}

static void *worker(void *arg)
{
    int i = (int)(long)arg;

    for (int round = 0; round < 2; round++) {
        lock(i);
        atomic_store_explicit(&owner, i, rlx);
        int v = atomic_load_explicit(&owner, rlx);
        assert(v == i);
        unlock(i);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    for (long i = 1; i <= 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 1; i <= 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
