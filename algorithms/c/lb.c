// lb: load buffering, each thread loads one variable and then stores the other
// property: not both threads see what the other stores afterwards
// expect sc: correct (one load is first)
// expect tso: correct (a load is never delayed past a later store)
// expect tso: cost 0 (as litmus/lb.fen)
// expect pso: correct (as under TSO)
// expect pso: cost 0 (as litmus/lb.fen)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;
static int r0, r1;

static void *p0(void *arg)
{
    (void)arg;
    r0 = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return NULL;
}

static void *p1(void *arg)
{
    (void)arg;
    r1 = atomic_load_explicit(&x, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t0, t1;

    pthread_create(&t0, NULL, p0, NULL);
    pthread_create(&t1, NULL, p1, NULL);
    pthread_join(t0, NULL);
    pthread_join(t1, NULL);
    assert(!(r0 == 1 && r1 == 1));
    return 0;
}
