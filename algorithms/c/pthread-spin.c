// pthread-spin: two threads count under a pthread spin lock, one of them by trylock
// property: no increment is lost
// expect sc: correct (one thread at a time)
// expect tso: correct (unlocking drains)
// expect tso: cost 0 (correct already)
// expect pso: correct (unlocking drains)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_spinlock_t lock;
static long counter;

static void *patient(void *arg)
{
    long *c = arg;

    for (int i = 0; i < 2; i++) {
        pthread_spin_lock(&lock);
        *c = *c + 1;
        pthread_spin_unlock(&lock);
    }
    return NULL;
}

static void *eager(void *arg)
{
    long *c = arg;

    while (pthread_spin_trylock(&lock) != 0)
        ;
    *c += 10;
    pthread_spin_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, patient, &counter);
    pthread_create(&b, NULL, eager, &counter);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_spin_destroy(&lock);
    assert(counter == 12);
    return 0;
}
