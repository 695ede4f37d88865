// bakery: Lamport's bakery, two threads of two rounds, so that tickets stay small
// property: at most one thread is in the critical section
// expect sc: correct (classic)
// expect tso: violated (the loads overtake the own stores)
// expect tso: cost 2 (as mutex/bakery.fen; behind choosing and behind the ticket)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (as mutex/bakery.fen; leaving is a release)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define N 2

struct customer {
    atomic_bool choosing;
    atomic_int number;
};

static struct customer shop[N];
static int owner;

static bool before(int n, int i, int m, int j)
{
    return n < m || (n == m && i < j);
}

static void lock(int me)
{
    int max = 0;

    atomic_store_explicit(&shop[me].choosing, true, memory_order_relaxed);
    for (int j = 0; j < N; j++) {
        int n = atomic_load_explicit(&shop[j].number, memory_order_relaxed);
        max = n > max ? n : max;
    }
    int mine = max + 1;
    atomic_store_explicit(&shop[me].number, mine, memory_order_relaxed);
    atomic_store_explicit(&shop[me].choosing, false, memory_order_relaxed);
    for (int j = 0; j < N; j++) {
        int n;
        if (j == me)
            continue;
        while (atomic_load_explicit(&shop[j].choosing, memory_order_relaxed))
            ;
        do {
            n = atomic_load_explicit(&shop[j].number, memory_order_relaxed);
        } while (n != 0 && before(n, j, mine, me));
    }
}

static void unlock(int me)
{
    atomic_store_explicit(&shop[me].number, 0, memory_order_release);
}

static void *worker(void *arg)
{
    int me = (int)(long)arg;

    for (int round = 0; round < 2; round++) {
        lock(me);
        owner = me;
        assert(owner == me);
        unlock(me);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[N];

    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}
