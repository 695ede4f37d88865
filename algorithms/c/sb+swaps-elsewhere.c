// sb+swaps-elsewhere: store buffering with a relaxed swap of a third variable between store and load
// property: not both threads miss the other's store
// expect sc: correct (as sb)
// expect tso: correct (a locked swap waits for the whole buffer)
// expect tso: cost 0 (as litmus/sb+swaps-elsewhere.fen)
// expect pso: violated (a swap waits for its own place only)
// expect pso: cost 2 (as litmus/sb+swaps-elsewhere.fen)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y, z[2];
static int r0, r1;

static void *p0(void *arg)
{
    (void)arg;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_exchange_explicit(&z[0], 1, memory_order_relaxed);
    r0 = atomic_load_explicit(&y, memory_order_relaxed);
    return NULL;
}

static void *p1(void *arg)
{
    (void)arg;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_exchange_explicit(&z[1], 1, memory_order_relaxed);
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
    assert(r0 + r1 != 0);
    return 0;
}
