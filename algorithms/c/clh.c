// clh: the CLH queue lock, each thread waits on the node of the one before it and keeps that node
// property: at most one thread is in the critical section
// expect sc: correct (each thread waits until the one before it has left)
// expect tso: correct (as lock/clh.fen)
// expect tso: cost 0 (as lock/clh.fen)
// expect pso: violated (the swap on the tail does not wait for the store to the own node)
// expect pso: cost 1 (as lock/clh.fen; between the store to the own node and the swap)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct clh_node {
    atomic_int busy;
} clh_node;

static clh_node pool[3];
static clh_node *_Atomic tail = &pool[2];
static int owner;

struct ticket_for {
    int id;
    clh_node *mine;
};

static clh_node *clh_acquire(clh_node *mine)
{
    atomic_store_explicit(&mine->busy, 1, memory_order_relaxed);
    clh_node *before = atomic_exchange_explicit(&tail, mine, memory_order_relaxed);
    while (atomic_load_explicit(&before->busy, memory_order_acquire))
        ;
    return before;
}

static void *worker(void *arg)
{
    struct ticket_for *w = arg;

    for (int round = 0; round < 2; round++) {
        clh_node *before = clh_acquire(w->mine);
        owner = w->id;
        assert(owner == w->id);
        atomic_store_explicit(&w->mine->busy, 0, memory_order_release);
        w->mine = before;
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    static struct ticket_for w[2];

    for (int i = 0; i < 2; i++) {
        w[i].id = i + 1;
        w[i].mine = &pool[i];
        pthread_create(&t[i], NULL, worker, &w[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
