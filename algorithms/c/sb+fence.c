// sb+fence: store buffering with a full fence in one thread only
// property: not both threads miss the other's store
// expect sc: correct (as sb)
// expect tso: violated (the store of the other thread still waits)
// expect tso: cost 1 (as litmus/sb+fence.fen)
// expect pso: violated (as under TSO)
// expect pso: cost 1 (as litmus/sb+fence.fen)

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
    atomic_thread_fence(memory_order_seq_cst);
    r0 = atomic_load_explicit(&y, memory_order_relaxed);
    return NULL;
}

static void *p1(void *arg)
{
    (void)arg;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_acq_rel);
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
    assert(r0 || r1);
    return 0;
}
