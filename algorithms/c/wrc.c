// wrc: write to read causality, three threads
// property: who sees an answer sees what was answered
// expect sc: correct (one order of all)
// expect tso: correct (a store reaches all other threads at the same time)
// expect tso: cost 0 (as litmus/wrc.fen)
// expect pso: correct (each thread stores once)
// expect pso: cost 0 (as litmus/wrc.fen; the reader spins here, and only answers what it has seen)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x, y;

static void *ask(void *arg)
{
    (void)arg;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return NULL;
}

static void *answer(void *arg)
{
    (void)arg;
    while (atomic_load_explicit(&x, memory_order_relaxed) == 0)
        ;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return NULL;
}

static void *listen(void *arg)
{
    (void)arg;
    if (atomic_load_explicit(&y, memory_order_relaxed)) {
        int seen = atomic_load_explicit(&x, memory_order_relaxed);
        assert(seen);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;

    pthread_create(&a, NULL, ask, NULL);
    pthread_create(&b, NULL, answer, NULL);
    pthread_create(&c, NULL, listen, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
