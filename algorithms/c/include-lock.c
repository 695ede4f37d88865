// include-lock: a program of three files, a lock in a header, numbers in another
// property: no increment is lost
// expect sc: correct (the lock lets one thread in)
// expect tso: correct (the counter leaves the buffer before the lock is free)
// expect tso: cost 0 (as lock/tas-counter.fen)
// expect pso: violated (the lock is free before the counter has left its buffer)
// expect pso: cost 1 (as lock/tas-counter.fen; in include/spinlock.h, or before the call of spin_unlock)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#include "include/config.h"
#include "include/spinlock.h"

static spinlock guard = SPINLOCK_INIT;
static int counter;

static void *worker(void *arg)
{
    int *c = arg;

    for (int round = 0; round < ROUNDS; round++) {
        spin_lock(&guard);
        *c += 1;
        spin_unlock(&guard);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[NTHREADS];

    FOREACH_THREAD (i)
        pthread_create(&t[i], NULL, worker, &counter);
    FOREACH_THREAD (i)
        pthread_join(t[i], NULL);
    assert(counter == NTHREADS * ROUNDS);
    return 0;
}
