// ticket-relaxed: a ticket lock whose numbers are relaxed, two threads of two rounds
// property: no increment is lost
// expect sc: correct (tickets are served one after the other)
// expect tso: correct (the counter leaves the buffer before the next is served)
// expect tso: cost 0 (correct already)
// expect pso: violated (the next is served before the counter has left its buffer)
// expect pso: cost 1 (before the store to serving; lock/ticket-add.fen costs 0, for it guards no data)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_uint next, serving;
static int counter;

static void *worker(void *arg)
{
    (void)arg;
    for (int round = 0; round < 2; round++) {
        unsigned mine = atomic_fetch_add_explicit(&next, 1u, memory_order_relaxed);
        for (;;) {
            unsigned now = atomic_load_explicit(&serving, memory_order_relaxed);
            if (now == mine)
                break;
        }
        counter++;
        atomic_store_explicit(&serving, mine + 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 4);
    return 0;
}
