// mutant-wrong-index: the ring of spsc-ring, read one cell too far
// property: the consumer gets what was put, in order
// expect sc: violated (the consumer moves its index before it reads)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define N 3u

static int cell[N];
static atomic_uint head, tail;

static void *producer(void *arg)
{
    (void)arg;
    for (int x = 1; x <= 2; x++) {
        unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
        cell[t] = x;
        atomic_store_explicit(&tail, (t + 1) % N, memory_order_release);
    }
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    for (int wanted = 1; wanted <= 2; wanted++) {
        unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
        while (h == atomic_load_explicit(&tail, memory_order_acquire))
            ;
        h = (h + 1) % N;
        assert(cell[h] == wanted);
        atomic_store_explicit(&head, h, memory_order_release);
    }
    return NULL;
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
