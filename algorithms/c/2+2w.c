// 2+2w: two threads store the same two variables in opposite orders
// property: not both first stores win
// expect sc: correct (the last store of all is a second one)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (as litmus/2+2w.fen)
// expect pso: violated (the two stores of one thread reach memory in the other order)
// expect pso: cost 2 (as litmus/2+2w.fen)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;

static void *p0(void *arg)
{
    (void)arg;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 2, memory_order_relaxed);
    return NULL;
}

static void *p1(void *arg)
{
    (void)arg;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t0, t1;

    pthread_create(&t0, NULL, p0, NULL);
    pthread_create(&t1, NULL, p1, NULL);
    pthread_join(t0, NULL);
    pthread_join(t1, NULL);
    assert(!(x == 1 && y == 1));
    return 0;
}
