// ttas-broken: a spin lock that looks and then stores, a mutant of ttas
// property: at most one thread is in the critical section
// expect sc: violated (both look before either stores)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC, as lock/ttas-broken.fen)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int held;
static atomic_int owner;

static void *worker(void *arg)
{
    int me = *(int *)arg;

    while (atomic_load(&held))
        ;
    atomic_store(&held, 1);
    atomic_store(&owner, me);
    assert(atomic_load(&owner) == me);
    atomic_store(&held, 0);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int id[2] = { 1, 2 };

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &id[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
