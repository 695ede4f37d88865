// sense-barrier: a sense-reversing barrier with relaxed orders, two epochs of two threads
// property: what was stored before the barrier is seen behind it
// expect sc: correct (nobody passes before all have come)
// expect tso: correct (the data is out before the counter is raised)
// expect tso: cost 0 (as barrier/sense-data.fen)
// expect pso: violated (the data may still be in a buffer when the sense is turned)
// expect pso: cost 1 (as barrier/sense-data.fen; before the counter is raised)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define PARTIES 2

struct barrier {
    atomic_int count;
    atomic_bool sense;
};

static struct barrier bar;
static int data[PARTIES];

static void barrier_wait(struct barrier *b, bool *sense)
{
    *sense = !*sense;
    if (atomic_fetch_add_explicit(&b->count, 1, memory_order_relaxed) == PARTIES - 1) {
        atomic_store_explicit(&b->count, 0, memory_order_relaxed);
        atomic_store_explicit(&b->sense, *sense, memory_order_relaxed);
    } else {
        while (atomic_load_explicit(&b->sense, memory_order_relaxed) != *sense)
            ;
    }
}

static void *worker(void *arg)
{
    int me = (int)(long)arg;
    bool sense = false;

    for (int epoch = 1; epoch <= 2; epoch++) {
        data[me] = epoch;
        barrier_wait(&bar, &sense);
        assert(data[1 - me] >= epoch);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[PARTIES];

    for (long i = 0; i < PARTIES; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < PARTIES; i++)
        pthread_join(t[i], NULL);
    return 0;
}
