// szymanski-helpers: szymanski with its loads and stores in two helper functions, where one place serves all stores
// property: at most one thread is in the critical section
// expect sc: correct (classic)
// expect tso: violated (the loads of the other flag overtake the own stores)
// expect tso: cost 1 (behind the store in move; mutex/szymanski.fen needs 2 places, here one place in a function counts once)
// expect pso: violated (as under TSO)
// expect pso: cost 1 (as under TSO; leaving is a release)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum where { AWAY, ASKS, WAITS, AT_DOOR, SHUT };

static _Atomic enum where flag[2];
static atomic_int owner;

static inline enum where look(int i)
{
    return atomic_load_explicit(&flag[i], memory_order_relaxed);
}

static inline void move(int i, enum where w)
{
    atomic_store_explicit(&flag[i], w, memory_order_relaxed);
}

static void enter(int i)
{
    const int other = 1 - i;

    move(i, ASKS);
    while (look(other) >= AT_DOOR)
        ;
    move(i, AT_DOOR);
    switch (look(other)) {
    case ASKS:
        move(i, WAITS);
        while (look(other) != SHUT)
            ;
        break;
    default:
        break;
    }
    move(i, SHUT);
    if (i == 1)
        while (look(0) >= WAITS)
            ;
}

static void leave(int i)
{
    if (i == 0) {
        enum where w;
        do {
            w = look(1);
        } while (w == WAITS || w == AT_DOOR);
    }
    atomic_store_explicit(&flag[i], AWAY, memory_order_release);
}

static void *worker(void *arg)
{
    int i = (int)(long)arg;

    for (int round = 0; round < 2; round++) {
        enter(i);
        atomic_store_explicit(&owner, i, memory_order_relaxed);
        assert(atomic_load_explicit(&owner, memory_order_relaxed) == i);
        leave(i);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
