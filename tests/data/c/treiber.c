/* A stack that is linked by compare and swap. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) top;
static atomic_int taken[3];

static void push(int value)
{
    struct node *node = malloc(sizeof(struct node));
    node->value = value;
    node->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &node->next, node, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

static int pop(void)
{
    struct node *node = atomic_load_explicit(&top, memory_order_acquire);
    while (node) {
        if (atomic_compare_exchange_strong(&top, &node, node->next))
            return node->value;
    }
    return 0;
}

static int worker(void *argument)
{
    int own = (int)(long)argument;
    push(own);
    atomic_fetch_add(&taken[pop()], 1);
    return 0;
}

int main(void)
{
    thrd_t one, two;
    thrd_create(&one, worker, (void *)1);
    thrd_create(&two, worker, (void *)2);
    thrd_join(one, NULL);
    thrd_join(two, NULL);
    assert(taken[0] == 0 && taken[1] == 1 && taken[2] == 1);
    return 0;
}
