// mcs: the MCS queue lock, each thread brings a node of its own and waits on it
// property: at most one thread is in the critical section
// expect sc: correct (each thread is woken by the one before it)
// expect tso: correct (as lock/mcs.fen)
// expect tso: cost 0 (correct already)
// expect pso: correct (all that hands over is release)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct mcs_node {
    struct mcs_node *_Atomic next;
    atomic_bool wait;
};

struct mcs_lock {
    struct mcs_node *_Atomic tail;
};

static struct mcs_lock lock;
static struct mcs_node nodes[2];
static int owner = -1;

static void mcs_acquire(struct mcs_lock *l, struct mcs_node *me)
{
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&me->wait, true, memory_order_relaxed);
    struct mcs_node *before = atomic_exchange_explicit(&l->tail, me, memory_order_acq_rel);
    if (before == NULL)
        return;
    atomic_store_explicit(&before->next, me, memory_order_release);
    while (atomic_load_explicit(&me->wait, memory_order_acquire))
        ;
}

static void mcs_release(struct mcs_lock *l, struct mcs_node *me)
{
    struct mcs_node *after = atomic_load_explicit(&me->next, memory_order_acquire);

    if (!after) {
        struct mcs_node *expected = me;
        if (atomic_compare_exchange_strong_explicit(&l->tail, &expected, NULL,
                                                    memory_order_release, memory_order_relaxed))
            return;
        do
            after = atomic_load_explicit(&me->next, memory_order_acquire);
        while (!after);
    }
    atomic_store_explicit(&after->wait, false, memory_order_release);
}

static void *worker(void *arg)
{
    int me = (int)(long)arg;
    struct mcs_node *mine = &nodes[me];

    for (int round = 0; round < 2; round++) {
        mcs_acquire(&lock, mine);
        owner = me;
        assert(owner == me);
        mcs_release(&lock, mine);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
