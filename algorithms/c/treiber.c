// treiber: Treiber's lock-free stack of malloc'd nodes, each thread pushes one and pops one, relaxed orders
// property: each thread gets a node, and not the same one
// expect sc: correct (the top is moved by compare-and-swap)
// expect tso: correct (the node is out before it is linked)
// expect tso: cost 0 (as queue/treiber.fen)
// expect pso: violated (a node is linked while its content is still in a buffer)
// expect pso: cost 1 (as queue/treiber.fen; before the compare-and-swap of push)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *_Atomic top;
static int got[2];

static void push(int value)
{
    struct node *n = malloc(sizeof *n);
    struct node *t = atomic_load_explicit(&top, memory_order_relaxed);

    n->value = value;
    do {
        n->next = t;
    } while (!atomic_compare_exchange_weak_explicit(&top, &t, n, memory_order_relaxed, memory_order_relaxed));
}

static int pop(void)
{
    struct node *t = atomic_load_explicit(&top, memory_order_relaxed);

    while (t != NULL) {
        struct node *n = t->next;
        if (atomic_compare_exchange_weak_explicit(&top, &t, n, memory_order_relaxed, memory_order_relaxed))
            return t->value;
    }
    return 0;
}

static void *worker(void *arg)
{
    int me = (int)(long)arg;

    push(me + 1);
    got[me] = pop();
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(got[0] + got[1] == 3 && got[0] * got[1] == 2);
    assert(top == NULL);
    return 0;
}
