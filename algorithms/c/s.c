// s: the shape S, two stores against a load and a store
// property: not: the second thread sees y and its later store to x is overwritten
// expect sc: correct (x is 2 before y is 1)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (as litmus/s.fen)
// expect pso: violated (the two stores reach memory in the other order)
// expect pso: cost 1 (as litmus/s.fen)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;
static int r1;

static void *p0(void *arg)
{
    (void)arg;
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return NULL;
}

static void *p1(void *arg)
{
    (void)arg;
    r1 = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t0, t1;

    pthread_create(&t0, NULL, p0, NULL);
    pthread_create(&t1, NULL, p1, NULL);
    pthread_join(t0, NULL);
    pthread_join(t1, NULL);
    assert(!(r1 == 1 && x == 2));
    return 0;
}
