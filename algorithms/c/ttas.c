// ttas: a test-and-test-and-set lock behind a pointer, NTHREADS threads
// property: no increment is lost
// expect sc: correct (the swap lets one thread in)
// expect tso: correct (as lock/ttas.fen)
// expect tso: cost 0 (correct already)
// expect pso: correct (the unlocking store is a release)
// expect pso: cost 0 (correct already; lock/ttas.fen has no data)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef NTHREADS
#define NTHREADS 3
#endif

typedef struct {
    atomic_int held;
} spinlock_t;

static spinlock_t guard;
static int counter;

static inline void spin_lock(spinlock_t *l)
{
    do {
        while (atomic_load_explicit(&l->held, memory_order_relaxed) != 0)
            ;
    } while (atomic_exchange_explicit(&l->held, 1, memory_order_acquire) != 0);
}

static inline void spin_unlock(spinlock_t *l)
{
    atomic_store_explicit(&l->held, 0, memory_order_release);
}

static void *worker(void *arg)
{
    (void)arg;
    spin_lock(&guard);
    counter += 1;
    spin_unlock(&guard);
    return NULL;
}

int main(void)
{
    pthread_t t[NTHREADS];

    for (int i = 0; i < NTHREADS; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < NTHREADS; i++)
        pthread_join(t[i], NULL);
    assert(counter == NTHREADS);
    return 0;
}
