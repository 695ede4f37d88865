// michael-scott: the Michael-Scott queue, two producers with a node each and a consumer that tries three times, relaxed orders
// property: what is got was put, nothing twice, and the rest is still in the queue
// expect sc: correct (links and ends are moved by compare-and-swap)
// expect tso: correct (the node is out before it is linked)
// expect tso: cost 0 (as queue/michael-scott.fen)
// expect pso: violated (a node is linked while its content is still in a buffer)
// expect pso: cost 1 (as queue/michael-scott.fen; behind the stores that fill the node)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct node {
    int value;
    _Atomic(struct node *) next;
} node;

static node dummy;
static struct {
    _Atomic(node *) head, tail;
} q = { &dummy, &dummy };

static int got, last;

#define RLX memory_order_relaxed

static int swing(_Atomic(node *) *where, node *from, node *to)
{
    return atomic_compare_exchange_strong_explicit(where, &from, to, RLX, RLX);
}

static void enqueue(int value)
{
    node *n = malloc(sizeof(node));

    n->value = value;
    atomic_store_explicit(&n->next, NULL, RLX);
    for (;;) {
        node *t = atomic_load_explicit(&q.tail, RLX);
        node *after = atomic_load_explicit(&t->next, RLX);
        if (after) {
            swing(&q.tail, t, after);
        } else if (swing(&t->next, NULL, n)) {
            swing(&q.tail, t, n);
            return;
        }
    }
}

static int try_dequeue(int *value)
{
    node *h = atomic_load_explicit(&q.head, RLX);
    node *t = atomic_load_explicit(&q.tail, RLX);
    node *n = atomic_load_explicit(&h->next, RLX);

    if (h == t) {
        if (n)
            swing(&q.tail, t, n);
        return 0;
    }
    *value = n->value;
    return swing(&q.head, h, n);
}

static void *producer(void *arg)
{
    enqueue((int)(long)arg);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    for (int tries = 0; tries < 3; tries++) {
        int v;
        if (try_dequeue(&v)) {
            assert((v == 1 || v == 2) && v != last);
            last = v;
            got++;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t p1, p2, c;
    int left = 0;

    pthread_create(&p1, NULL, producer, (void *)1L);
    pthread_create(&p2, NULL, producer, (void *)2L);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p1, NULL);
    pthread_join(p2, NULL);
    pthread_join(c, NULL);
    for (node *n = atomic_load(&q.head)->next; n; n = n->next)
        left++;
    assert(got + left == 2);
    return 0;
}
