// singleton: double-checked creation of a malloc'd object under a pthread mutex, static locals
// property: all get the same object, finished
// expect sc: correct (who has the lock looks again)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (correct already)
// expect pso: violated (the pointer overtakes the object)
// expect pso: cost 1 (before the store of the pointer; unlocking drains, so that protocol/double-checked.fen's second fence is not needed)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct registry {
    int size;
    int slot[2];
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct registry *seen[2];

static struct registry *get_registry(void)
{
    static _Atomic(struct registry *) the_one;
    struct registry *r = atomic_load_explicit(&the_one, memory_order_relaxed);

    if (r)
        return r;
    pthread_mutex_lock(&m);
    r = atomic_load_explicit(&the_one, memory_order_relaxed);
    if (!r) {
        r = malloc(sizeof(struct registry));
        r->size = 2;
        r->slot[0] = 10;
        r->slot[1] = 20;
        atomic_store_explicit(&the_one, r, memory_order_relaxed);
    }
    pthread_mutex_unlock(&m);
    return r;
}

static void *worker(void *arg)
{
    int me = *(int *)arg;
    struct registry *r = get_registry();

    assert(r->size == 2);
    assert(r->slot[me] == 10 * (me + 1));
    seen[me] = r;
    return NULL;
}

int main(void)
{
    int id[2] = { 0, 1 };
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &id[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(seen[0] == seen[1]);
    free(seen[0]);
    return 0;
}
