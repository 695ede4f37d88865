// coherence: two stores of one variable and two loads of it
// property: a reader does not see the newer and then the older value
// expect sc: correct (one variable)
// expect tso: correct (every store to one variable passes through one memory cell in order)
// expect tso: cost 0 (as litmus/corr.fen)
// expect pso: correct (as under TSO)
// expect pso: cost 0 (as litmus/corr.fen)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x;
static int r0, r1;

static void *p0(void *arg)
{
    (void)arg;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    return NULL;
}

static void *p1(void *arg)
{
    (void)arg;
    r0 = atomic_load_explicit(&x, memory_order_relaxed);
    r1 = atomic_load_explicit(&x, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t0, t1;

    pthread_create(&t0, NULL, p0, NULL);
    pthread_create(&t1, NULL, p1, NULL);
    pthread_join(t0, NULL);
    pthread_join(t1, NULL);
    assert(r0 <= r1);
    return 0;
}
