// anderson: Anderson's array lock, a row of cells that is gone round, two rounds each
// property: at most one thread is in the critical section
// expect sc: correct (one cell says go)
// expect tso: correct (as lock/anderson.fen)
// expect tso: cost 0 (as lock/anderson.fen)
// expect pso: violated (the next cell says go before the owner, or the own cell taken back, is out)
// expect pso: cost 1 (as lock/anderson.fen; before the store to the next cell)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { SLOTS = 2, ROUNDS = 2 };

static struct {
    atomic_uint last;
    atomic_bool go[SLOTS];
} lock = { .go = { true, false } };

static atomic_int owner;

static unsigned acquire(void)
{
    unsigned place = atomic_fetch_add_explicit(&lock.last, 1, memory_order_relaxed) % SLOTS;

    while (!atomic_load_explicit(&lock.go[place], memory_order_relaxed))
        ;
    atomic_store_explicit(&lock.go[place], false, memory_order_relaxed);
    return place;
}

static void release(unsigned place)
{
    unsigned next = place + 1 == SLOTS ? 0 : place + 1;

    atomic_store_explicit(&lock.go[next], true, memory_order_relaxed);
}

static void *worker(void *arg)
{
    const int me = *(const int *)arg;
    int round = 0;

    while (round < ROUNDS) {
        unsigned place = acquire();
        atomic_store_explicit(&owner, me, memory_order_relaxed);
        assert(atomic_load_explicit(&owner, memory_order_relaxed) == me);
        release(place);
        round++;
    }
    return NULL;
}

int main(void)
{
    static const int id[2] = { 1, 2 };
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)&id[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
