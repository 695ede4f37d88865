// dekker: Dekker's algorithm, a thread that gave way raises its flag again where it stands, relaxed entry
// property: at most one thread is in the critical section
// expect sc: correct (classic)
// expect tso: violated (the load of the other flag overtakes the own store)
// expect tso: cost 2 (as mutex/dekker.fen; behind each place that raises the flag)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (as mutex/dekker.fen; leaving is a release)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define GET(v) atomic_load_explicit(&(v), memory_order_relaxed)
#define SET(v, x) atomic_store_explicit(&(v), (x), memory_order_relaxed)

static atomic_int flag[2], turn, owner;

static void lock(int me, int other)
{
    SET(flag[me], 1);
    while (GET(flag[other])) {
        if (GET(turn) != me) {
            SET(flag[me], 0);
            while (GET(turn) != me)
                ;
            SET(flag[me], 1);
        }
    }
}

static void unlock(int me, int other)
{
    atomic_store_explicit(&turn, other, memory_order_release);
    atomic_store_explicit(&flag[me], 0, memory_order_release);
}

static void *worker(void *arg)
{
    int me = *(int *)arg;

    for (int round = 0; round < 2; round++) {
        lock(me, 1 - me);
        SET(owner, me);
        assert(GET(owner) == me);
        unlock(me, 1 - me);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int id[2] = { 0, 1 };

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &id[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
