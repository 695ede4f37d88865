// sb: store buffering, each thread stores one variable and then loads the other
// property: not both threads miss the other's store
// expect sc: correct (the thread that stores second finds the store of the first)
// expect tso: violated (the stores wait in their buffers while the loads overtake them)
// expect tso: cost 2 (as litmus/sb.fen)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (as litmus/sb.fen)

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
    r0 = atomic_load_explicit(&y, memory_order_relaxed);
    return NULL;
}

static void *p1(void *arg)
{
    (void)arg;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
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
    assert(!(r0 == 0 && r1 == 0));
    return 0;
}
