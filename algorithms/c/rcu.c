// rcu: a new version is published, the old one wiped when no reader is inside any more, two readers
// property: what is read is whole and not yet wiped
// expect sc: correct (a reader is inside before it takes the pointer)
// expect tso: violated (the reader takes the pointer, or the writer looks for readers, before the own store is out)
// expect tso: cost 2 (one in the reader, one in the writer)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (as under TSO, for the pointer is published with release)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct version {
    struct {
        int lo, hi;
    } range;
} version;

static version first = { { 1, 2 } };
static _Atomic(version *) published = &first;
static atomic_int inside[2];
static int wiped;

static void rcu_enter(int me)
{
    atomic_store_explicit(&inside[me], 1, memory_order_relaxed);
}

static void rcu_leave(int me)
{
    atomic_store_explicit(&inside[me], 0, memory_order_release);
}

static void rcu_synchronize(void)
{
    for (int i = 0; i < 2; i++)
        while (atomic_load_explicit(&inside[i], memory_order_acquire))
            ;
}

static void *reader(void *arg)
{
    int me = (int)(long)arg;

    rcu_enter(me);
    version *v = atomic_load_explicit(&published, memory_order_acquire);
    int *lo = &v->range.lo, *hi = &v->range.hi;
    int width = *hi - *lo;
    assert(width == 1);
    rcu_leave(me);
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    version *old = atomic_load_explicit(&published, memory_order_relaxed);
    version *new = malloc(sizeof *new);
    new->range.lo = 3;
    new->range.hi = 4;
    atomic_store_explicit(&published, new, memory_order_release);
    rcu_synchronize();
    old->range.lo = old->range.hi = 0;
    wiped = 1;
    return NULL;
}

int main(void)
{
    pthread_t r[2], w;

    for (long i = 0; i < 2; i++)
        pthread_create(&r[i], NULL, reader, (void *)i);
    pthread_create(&w, NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(r[i], NULL);
    pthread_join(w, NULL);
    assert(wiped && first.range.lo == 0);
    return 0;
}
