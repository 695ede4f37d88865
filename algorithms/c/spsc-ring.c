// spsc-ring: a ring for one producer and one consumer, indices that only grow, release and acquire
// property: the consumer gets what was put, in order
// expect sc: correct (each index has one writer)
// expect tso: correct (the item is out before the index)
// expect tso: cost 0 (as queue/ring.fen)
// expect pso: correct (the indices are stored with release)
// expect pso: cost 0 (queue/ring.fen without its fence costs 1)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define SIZE 2u
#define ITEMS 3

struct ring {
    _Atomic size_t head;
    _Atomic size_t tail;
    int cell[SIZE];
};

static struct ring ring;

static bool put(struct ring *r, int x)
{
    size_t t = atomic_load_explicit(&r->tail, memory_order_relaxed);

    if (t - atomic_load_explicit(&r->head, memory_order_acquire) == SIZE)
        return false;
    r->cell[t & (SIZE - 1)] = x;
    atomic_store_explicit(&r->tail, t + 1, memory_order_release);
    return true;
}

static bool get(struct ring *r, int *x)
{
    size_t h = atomic_load_explicit(&r->head, memory_order_relaxed);

    if (h == atomic_load_explicit(&r->tail, memory_order_acquire))
        return false;
    *x = r->cell[h & (SIZE - 1)];
    atomic_store_explicit(&r->head, h + 1, memory_order_release);
    return true;
}

static void *producer(void *arg)
{
    for (int x = 1; x <= ITEMS; x++)
        while (!put(arg, x))
            ;
    return NULL;
}

static void *consumer(void *arg)
{
    for (int wanted = 1, x; wanted <= ITEMS; wanted++) {
        while (!get(arg, &x))
            ;
        assert(x == wanted);
    }
    return NULL;
}

int main(void)
{
    pthread_t p, c;

    pthread_create(&p, NULL, producer, &ring);
    pthread_create(&c, NULL, consumer, &ring);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    assert(ring.head == ring.tail);
    return 0;
}
