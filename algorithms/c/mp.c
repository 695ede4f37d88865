// mp: message passing, data and then a flag
// property: a reader that sees the flag sees the data
// expect sc: correct (the data is stored first)
// expect tso: correct (one queue per thread keeps its stores in order)
// expect tso: cost 0 (as litmus/mp.fen)
// expect pso: violated (the two stores reach memory in the other order)
// expect pso: cost 1 (as litmus/mp.fen)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;
static int r0, r1;

static void *p0(void *arg)
{
    (void)arg;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return NULL;
}

static void *p1(void *arg)
{
    (void)arg;
    r0 = atomic_load_explicit(&y, memory_order_relaxed);
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
    assert(!(r0 == 1 && r1 == 0));
    return 0;
}
