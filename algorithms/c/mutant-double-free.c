// mutant-double-free: two threads drop their reference of an object and look at the count afterwards
// property: an object is freed once
// expect sc: violated (both see zero, or one looks at the count after the other has freed it)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int refs;
    int payload;
};

static struct object *shared;

static void drop(struct object *o)
{
    atomic_fetch_sub(&o->refs, 1);
    if (atomic_load(&o->refs) == 0)
        free(o);
}

static void *worker(void *arg)
{
    drop(arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    shared = malloc(sizeof(struct object));
    atomic_init(&shared->refs, 2);
    shared->payload = 0;
    pthread_create(&a, NULL, worker, shared);
    pthread_create(&b, NULL, worker, shared);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
