// rcu-publish: a pointer to a malloc'd record is published, a reader takes it if it is there, relaxed orders
// property: a record that is seen is seen whole
// expect sc: correct (it is filled before it is published)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (correct already)
// expect pso: violated (the pointer overtakes the record)
// expect pso: cost 1 (before the store of the pointer)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int verbose;
    struct limits {
        unsigned depth;
        unsigned width;
    } limits;
};

static _Atomic(struct config *) active;

static void *loader(void *arg)
{
    struct config *c = calloc(1, sizeof *c);
    struct limits *l = &c->limits;

    (void)arg;
    c->verbose = 1;
    l->depth = 3;
    l->width = l->depth + 1;
    atomic_store_explicit(&active, c, memory_order_relaxed);
    return NULL;
}

static void *user(void *arg)
{
    struct config *c = atomic_load_explicit(&active, memory_order_relaxed);

    (void)arg;
    if (c == NULL)
        return NULL;
    assert(c->verbose == 1);
    assert(c->limits.depth * c->limits.width == 12);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, loader, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(active);
    return 0;
}
