// treiber-3: Treiber's stack with release and acquire, three threads, one pushes two and two pop one each
// property: what is popped was pushed, and nothing is popped twice
// expect sc: correct (the top is moved by compare-and-swap)
// expect tso: correct (the node is out before it is linked)
// expect tso: cost 0 (correct already)
// expect pso: correct (push is a release)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct cell cell;
struct cell {
    cell *next;
    int value;
};

typedef struct {
    _Atomic(cell *) top;
} stack;

static stack s;
static atomic_int seen[3];

static void push(stack *st, int value)
{
    cell *c = malloc(sizeof(cell));

    if (!c)
        abort();
    c->value = value;
    c->next = atomic_load_explicit(&st->top, memory_order_relaxed);
    while (!atomic_compare_exchange_strong_explicit(&st->top, &c->next, c,
                                                    memory_order_release, memory_order_relaxed))
        ;
}

static bool pop(stack *st, int *value)
{
    cell *c;

    do {
        c = atomic_load_explicit(&st->top, memory_order_acquire);
        if (!c)
            return false;
    } while (!atomic_compare_exchange_strong_explicit(&st->top, &c, c->next,
                                                      memory_order_relaxed, memory_order_relaxed));
    *value = c->value;
    return true;
}

static void *pusher(void *arg)
{
    push(arg, 1);
    push(arg, 2);
    return NULL;
}

static void *popper(void *arg)
{
    int value;

    if (pop(arg, &value)) {
        assert(value == 1 || value == 2);
        atomic_fetch_add_explicit(&seen[value], 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;

    pthread_create(&a, NULL, pusher, &s);
    pthread_create(&b, NULL, popper, &s);
    pthread_create(&c, NULL, popper, &s);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(seen[1] <= 1 && seen[2] <= 1);
    return 0;
}
