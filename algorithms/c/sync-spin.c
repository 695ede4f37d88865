// sync-spin: a spin lock by GNU's __sync builtins on a volatile int
// property: no increment is lost
// expect sc: correct (the swap lets one thread in)
// expect tso: correct (the counter leaves the buffer before the lock is free)
// expect tso: cost 0 (correct already)
// expect pso: correct (__sync_lock_release is a release)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static volatile int lock;
static int counter;

static void *worker(void *arg)
{
    (void)arg;
    for (int round = 0; round < 2; round++) {
        while (__sync_lock_test_and_set(&lock, 1))
            while (lock)
                ;
        counter++;
        __sync_lock_release(&lock);
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
    assert(counter == 4 && !lock);
    return 0;
}
