// tagged-stack: the stack of treiber-aba with a tag beside the index in one 64-bit word, relaxed orders
// property: nobody has a node that another one has
// expect sc: correct (the tag tells an old top from a new one)
// expect tso: correct (the link is out before the node is)
// expect tso: cost 0 (correct already)
// expect pso: violated (a node is pushed while its link is still in a buffer)
// expect pso: cost 1 (before the compare-and-swap of push)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t word;

#define INDEX(w) ((uint32_t)(w))
#define TAG(w) ((uint32_t)((w) >> 32))
#define WORD(tag, index) (((word)(tag) << 32) | (index))

static _Atomic word top = 1;
static atomic_uint next[4] = { 0, 2, 3, 0 };
static atomic_int user[4];

static uint32_t pop(void)
{
    word t = atomic_load_explicit(&top, memory_order_relaxed);
    word n;

    do {
        if (INDEX(t) == 0)
            return 0;
        n = WORD(TAG(t) + 1, atomic_load_explicit(&next[INDEX(t)], memory_order_relaxed));
    } while (!atomic_compare_exchange_strong_explicit(&top, &t, n, memory_order_relaxed, memory_order_relaxed));
    int before = atomic_fetch_add_explicit(&user[INDEX(t)], 1, memory_order_relaxed);
    assert(before == 0);
    return INDEX(t);
}

static void push(uint32_t node)
{
    word t = atomic_load_explicit(&top, memory_order_relaxed);

    atomic_fetch_sub_explicit(&user[node], 1, memory_order_relaxed);
    do {
        atomic_store_explicit(&next[node], INDEX(t), memory_order_relaxed);
    } while (!atomic_compare_exchange_strong_explicit(&top, &t, WORD(TAG(t) + 1, node),
                                                      memory_order_relaxed, memory_order_relaxed));
}

static void *slow(void *arg)
{
    (void)arg;
    pop();
    pop();
    return NULL;
}

static void *quick(void *arg)
{
    (void)arg;
    uint32_t a = pop();
    pop();
    if (a)
        push(a);
    return NULL;
}

int main(void)
{
    pthread_t s, q;

    pthread_create(&s, NULL, slow, NULL);
    pthread_create(&q, NULL, quick, NULL);
    pthread_join(s, NULL);
    pthread_join(q, NULL);
    return 0;
}
