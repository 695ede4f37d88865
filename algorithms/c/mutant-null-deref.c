// mutant-null-deref: a pointer that is used without asking whether it is there
// property: no null pointer is followed
// expect sc: violated (the reader may be first)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct point {
    int x, y;
};

static struct point origin = { 1, 1 };
static struct point *_Atomic where;

static void *setter(void *arg)
{
    (void)arg;
    atomic_store_explicit(&where, &origin, memory_order_release);
    return NULL;
}

static void *getter(void *arg)
{
    struct point *p = atomic_load_explicit(&where, memory_order_acquire);

    (void)arg;
    assert(p->x == p->y);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, setter, NULL);
    pthread_create(&b, NULL, getter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
