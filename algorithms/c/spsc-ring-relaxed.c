// spsc-ring-relaxed: Lamport's ring of two cells, one of which stays free, relaxed orders
// property: the consumer gets what was put, in order
// expect sc: correct (each index has one writer)
// expect tso: correct (the item is out before the index)
// expect tso: cost 0 (as queue/ring.fen)
// expect pso: violated (the index overtakes the item)
// expect pso: cost 1 (as queue/ring.fen; before the store to tail)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { N = 2, ITEMS = 3 };

static atomic_int head, tail;
static volatile int cell[N];

static void *producer(void *arg)
{
    int t = 0;

    (void)arg;
    for (int item = 1; item <= ITEMS; item++) {
        while ((t + 1) % N == atomic_load_explicit(&head, memory_order_relaxed))
            ;
        cell[t] = item;
        t = (t + 1) % N;
        atomic_store_explicit(&tail, t, memory_order_relaxed);
    }
    pthread_exit(NULL);
}

static void *consumer(void *arg)
{
    int h = 0, wanted = 0;

    (void)arg;
    while (++wanted <= ITEMS) {
        while (atomic_load_explicit(&tail, memory_order_relaxed) == h)
            ;
        assert(cell[h] == wanted);
        h = (h + 1) % N;
        atomic_store_explicit(&head, h, memory_order_relaxed);
    }
    pthread_exit(NULL);
}

int main(void)
{
    pthread_t p, c;

    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    return 0;
}
