// mutant-use-after-free: Treiber's stack whose pop frees the node
// property: nothing is read after it is freed
// expect sc: violated (a slow pop reads the link of a node that the other has freed)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *_Atomic top;

static void push(int value)
{
    struct node *n = malloc(sizeof *n);

    n->value = value;
    n->next = top;
    while (!atomic_compare_exchange_weak(&top, &n->next, n))
        ;
}

static int pop(void)
{
    struct node *t = top;

    while (t && !atomic_compare_exchange_weak(&top, &t, t->next))
        ;
    if (!t)
        return 0;
    int value = t->value;
    free(t);
    return value;
}

static void *worker(void *arg)
{
    (void)arg;
    pop();
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    push(1);
    push(2);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
