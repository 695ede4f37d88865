// tas: a test-and-set spin lock on an atomic_flag, acquire and release
// property: at most one thread is in the critical section
// expect sc: correct (the flag is set by one thread at a time)
// expect tso: correct (as lock/tas.fen)
// expect tso: cost 0 (correct already)
// expect pso: correct (clear is a release, so that owner is out before the flag)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_flag busy = ATOMIC_FLAG_INIT;
static atomic_int owner;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static void *worker(void *arg)
{
    int me = *(int *)arg;

    for (int round = 0; round < 2; round++) {
        lock();
        atomic_store_explicit(&owner, me, memory_order_relaxed);
        int v = atomic_load_explicit(&owner, memory_order_relaxed);
        assert(v == me);
        unlock();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int id[2] = { 1, 2 };

    pthread_create(&t[0], NULL, worker, &id[0]);
    pthread_create(&t[1], NULL, worker, &id[1]);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}
