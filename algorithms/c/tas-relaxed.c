// tas-relaxed: a test-and-set spin lock with relaxed orders that guards a plain counter
// property: no increment is lost
// expect sc: correct (the swap lets one thread in)
// expect tso: correct (the counter leaves the buffer before the lock is free)
// expect tso: cost 0 (as lock/tas-counter.fen)
// expect pso: violated (the lock is free before the counter has left its buffer)
// expect pso: cost 1 (as lock/tas-counter.fen; before the store that unlocks)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool taken;
static int counter;

static void *worker(void *arg)
{
    (void)arg;
    for (int round = 0; round < 2; ++round) {
        while (atomic_exchange_explicit(&taken, true, memory_order_relaxed))
            ;
        counter++;
        atomic_store_explicit(&taken, false, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 4);
    return 0;
}
