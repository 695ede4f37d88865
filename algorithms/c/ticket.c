// ticket: a ticket lock with fetch-and-add, three threads, acquire and release
// property: no increment is lost
// expect sc: correct (tickets are served one after the other)
// expect tso: correct (as lock/ticket-add.fen)
// expect tso: cost 0 (correct already)
// expect pso: correct (serving is stored with release)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define NTHREADS 3

struct ticket_lock {
    _Atomic uint32_t next;
    _Atomic uint32_t serving;
};

static struct ticket_lock lock;
static uint32_t counter;

static void ticket_acquire(struct ticket_lock *l)
{
    uint32_t mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);

    while (atomic_load_explicit(&l->serving, memory_order_acquire) != mine)
        continue;
}

static void ticket_release(struct ticket_lock *l)
{
    uint32_t now = atomic_load_explicit(&l->serving, memory_order_relaxed);

    atomic_store_explicit(&l->serving, now + 1, memory_order_release);
}

static void *worker(void *arg)
{
    (void)arg;
    ticket_acquire(&lock);
    counter = counter + 1;
    ticket_release(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[NTHREADS];
    int i;

    for (i = 0; i < NTHREADS; i++)
        pthread_create(t + i, NULL, worker, NULL);
    for (i = 0; i < NTHREADS; i++)
        pthread_join(t[i], NULL);
    assert(counter == NTHREADS);
    return 0;
}
