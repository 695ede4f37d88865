// r: the shape R, two stores against a store and a load
// property: not: the second thread wins y and still misses x
// expect sc: correct (y is 2 in the end only if the second thread stores after the first has stored both)
// expect tso: violated (the second thread loads x while its store waits)
// expect tso: cost 1 (as litmus/r.fen)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (as litmus/r.fen)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;
static int r1;

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
    atomic_store_explicit(&y, 2, memory_order_relaxed);
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
    assert(!(y == 2 && r1 == 0));
    return 0;
}
