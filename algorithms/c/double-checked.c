// double-checked: an object is built by the first to ask, under a spin lock with relaxed orders
// property: it is built once, and nobody uses it unfinished
// expect sc: correct (who has the lock looks again)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (as protocol/double-checked.fen)
// expect pso: violated (the mark overtakes the object)
// expect pso: cost 2 (as protocol/double-checked.fen; before the mark and before unlocking)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static int object;
static int builds;
static atomic_bool ready, locked;

static void build(void)
{
    object = 42;
    builds++;
}

static int *instance(void)
{
    if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
        while (atomic_exchange_explicit(&locked, true, memory_order_relaxed))
            ;
        if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
            build();
            atomic_store_explicit(&ready, true, memory_order_relaxed);
        }
        atomic_store_explicit(&locked, false, memory_order_relaxed);
    }
    return &object;
}

static void *worker(void *arg)
{
    (void)arg;
    assert(*instance() == 42);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(builds == 1);
    return 0;
}
