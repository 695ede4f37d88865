// chase-lev: the Chase-Lev work-stealing deque, two items, two takes and two steals, relaxed orders
// property: no item is taken twice, and none is lost
// expect sc: correct (the last item is decided by compare-and-swap)
// expect tso: violated (the owner loads top while its store to bottom still waits)
// expect tso: cost 1 (as queue/chase-lev.fen; in take, behind the store to bottom)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (as queue/chase-lev.fen; and in push, before the store to bottom)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define EMPTY (-1)

static struct deque {
    atomic_long top, bottom;
    atomic_int item[2];
} d;

static int owner_got[2], thief_got[2];

static void push(int x)
{
    long b = atomic_load_explicit(&d.bottom, memory_order_relaxed);

    atomic_store_explicit(&d.item[b], x, memory_order_relaxed);
    atomic_store_explicit(&d.bottom, b + 1, memory_order_relaxed);
}

static int take(void)
{
    long b = atomic_load_explicit(&d.bottom, memory_order_relaxed) - 1;

    atomic_store_explicit(&d.bottom, b, memory_order_relaxed);
    long t = atomic_load_explicit(&d.top, memory_order_relaxed);
    if (b < t) {
        atomic_store_explicit(&d.bottom, t, memory_order_relaxed);
        return EMPTY;
    }
    int x = atomic_load_explicit(&d.item[b], memory_order_relaxed);
    if (b == t) {
        bool won = atomic_compare_exchange_strong_explicit(&d.top, &t, t + 1,
                                                           memory_order_relaxed, memory_order_relaxed);
        atomic_store_explicit(&d.bottom, b + 1, memory_order_relaxed);
        if (!won)
            return EMPTY;
    }
    return x;
}

static int steal(void)
{
    long t = atomic_load_explicit(&d.top, memory_order_relaxed);
    long b = atomic_load_explicit(&d.bottom, memory_order_relaxed);

    if (t >= b)
        return EMPTY;
    int x = atomic_load_explicit(&d.item[t], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&d.top, &t, t + 1, memory_order_relaxed, memory_order_relaxed))
        return EMPTY;
    return x;
}

static void *owner(void *arg)
{
    (void)arg;
    push(1);
    push(2);
    for (int i = 0; i < 2; i++) {
        int x = take();
        if (x != EMPTY) {
            assert(x > 0);
            owner_got[x - 1]++;
        }
    }
    return NULL;
}

static void *thief(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        int x = steal();
        if (x == EMPTY)
            continue;
        assert(x > 0);
        thief_got[x - 1]++;
    }
    return NULL;
}

int main(void)
{
    pthread_t o, t;

    pthread_create(&o, NULL, owner, NULL);
    pthread_create(&t, NULL, thief, NULL);
    pthread_join(o, NULL);
    pthread_join(t, NULL);
    int one = owner_got[0] + thief_got[0];
    int two = owner_got[1] + thief_got[1];
    assert(one <= 1 && two <= 1);
    assert(one + two + (int)(d.bottom - d.top) == 2);
    return 0;
}
