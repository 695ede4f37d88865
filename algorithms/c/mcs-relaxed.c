// mcs-relaxed: the MCS queue lock with relaxed orders, nodes are thread-local variables
// property: no increment is lost
// expect sc: correct (each thread is woken by the one before it)
// expect tso: correct (stores leave in order and the swap waits for them)
// expect tso: cost 0 (correct already)
// expect pso: violated (the next one is woken before the counter has left its buffer)
// expect pso: cost 1 (at the start of mcs_release; lock/mcs.fen costs 0, for it guards no data)
// note: under PSO the lock can lose its queue and stop for ever, which is no matter of safety

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct node node_t;
struct node {
    _Atomic(node_t *) next;
    atomic_int wait;
};

static _Atomic(node_t *) tail;
static _Thread_local node_t self;
static int counter;

static void mcs_acquire(void)
{
    atomic_store_explicit(&self.next, NULL, memory_order_relaxed);
    atomic_store_explicit(&self.wait, 1, memory_order_relaxed);
    node_t *before = atomic_exchange_explicit(&tail, &self, memory_order_relaxed);
    if (before) {
        atomic_store_explicit(&before->next, &self, memory_order_relaxed);
        while (atomic_load_explicit(&self.wait, memory_order_relaxed))
            ;
    }
}

static void mcs_release(void)
{
    node_t *after = atomic_load_explicit(&self.next, memory_order_relaxed);
    if (after == NULL) {
        node_t *expected = &self;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL,
                                                    memory_order_relaxed, memory_order_relaxed))
            return;
        while ((after = atomic_load_explicit(&self.next, memory_order_relaxed)) == NULL)
            ;
    }
    atomic_store_explicit(&after->wait, 0, memory_order_relaxed);
}

static void *worker(void *arg)
{
    (void)arg;
    mcs_acquire();
    counter++;
    mcs_release();
    mcs_acquire();
    counter++;
    mcs_release();
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 4);
    return 0;
}
