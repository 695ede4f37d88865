// mpmc-ring: a ring for many producers and consumers, a turn number in every cell, each thread puts one and gets one
// property: both items come out, once
// expect sc: correct (a place is won by compare-and-swap, the turn says when it may be used)
// expect tso: correct (the item is out before its turn)
// expect tso: cost 0 (correct already)
// expect pso: correct (turns are stored with release)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define CELLS 2u

struct cell {
    atomic_uint turn;
    int item;
};

static struct {
    struct cell cell[CELLS];
    atomic_uint put, get;
} ring;

static int got[2];

static bool ring_put(int item)
{
    unsigned at = atomic_load_explicit(&ring.put, memory_order_relaxed);

    for (;;) {
        struct cell *c = &ring.cell[at % CELLS];
        unsigned turn = atomic_load_explicit(&c->turn, memory_order_acquire);
        int ahead = (int)(turn - at);

        if (ahead == 0) {
            if (atomic_compare_exchange_strong_explicit(&ring.put, &at, at + 1,
                                                        memory_order_relaxed, memory_order_relaxed)) {
                c->item = item;
                atomic_store_explicit(&c->turn, at + 1, memory_order_release);
                return true;
            }
        } else if (ahead < 0) {
            return false;
        } else {
            at = atomic_load_explicit(&ring.put, memory_order_relaxed);
        }
    }
}

static bool ring_get(int *item)
{
    unsigned at = atomic_load_explicit(&ring.get, memory_order_relaxed);

    for (;;) {
        struct cell *c = &ring.cell[at % CELLS];
        unsigned turn = atomic_load_explicit(&c->turn, memory_order_acquire);
        int ahead = (int)(turn - (at + 1));

        if (ahead == 0) {
            if (atomic_compare_exchange_strong_explicit(&ring.get, &at, at + 1,
                                                        memory_order_relaxed, memory_order_relaxed)) {
                *item = c->item;
                atomic_store_explicit(&c->turn, at + CELLS, memory_order_release);
                return true;
            }
        } else if (ahead < 0) {
            return false;
        } else {
            at = atomic_load_explicit(&ring.get, memory_order_relaxed);
        }
    }
}

static void *worker(void *arg)
{
    int me = (int)(long)arg;

    while (!ring_put(me + 1))
        ;
    while (!ring_get(&got[me]))
        ;
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (unsigned i = 0; i < CELLS; i++)
        atomic_init(&ring.cell[i].turn, i);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(got[0] != got[1] && got[0] + got[1] == 3);
    return 0;
}
