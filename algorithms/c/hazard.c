// hazard: hazard pointers, a reader announces what it reads and the writer frees only what is not announced, relaxed orders
// property: nothing is read after it is freed, and what is read is whole
// expect sc: correct (the reader announces, and then makes sure that the block is still the current one)
// expect tso: violated (the announcement still waits when the reader looks again)
// expect tso: cost 1 (behind the announcement)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (and in the writer, between filling the block and the swap)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct block {
    int a, b;
};

static struct block *_Atomic current;
static struct block *_Atomic hazard;

static struct block *make(int k)
{
    struct block *p = malloc(sizeof(struct block));

    p->a = k;
    p->b = k;
    return p;
}

static struct block *protect(void)
{
    struct block *p, *again;

    again = atomic_load_explicit(&current, memory_order_relaxed);
    do {
        p = again;
        atomic_store_explicit(&hazard, p, memory_order_relaxed);
        again = atomic_load_explicit(&current, memory_order_relaxed);
    } while (again != p);
    return p;
}

static void *reader(void *arg)
{
    (void)arg;
    struct block *p = protect();
    int a = p->a;
    int b = p->b;
    assert(a == b && a > 0);
    atomic_store_explicit(&hazard, NULL, memory_order_relaxed);
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    struct block *new = make(2);
    struct block *old = atomic_exchange_explicit(&current, new, memory_order_relaxed);
    while (atomic_load_explicit(&hazard, memory_order_relaxed) == old)
        ;
    free(old);
    return NULL;
}

int main(void)
{
    pthread_t r, w;

    atomic_init(&current, make(1));
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&w, NULL, writer, NULL);
    pthread_join(r, NULL);
    pthread_join(w, NULL);
    free(current);
    return 0;
}
