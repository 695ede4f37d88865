// futex-mutex: a mutex of three states as futexes have it, sleeping is written as a loop
// property: no increment is lost
// expect sc: correct (one thread turns free into taken)
// expect tso: correct (every step is an update of one word)
// expect tso: cost 0 (correct already)
// expect pso: correct (it is left by a release)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum state { FREE, TAKEN, CONTENDED };

typedef struct {
    atomic_int state;
} mutex;

static mutex m = { FREE };
static int counter;

static void futex_wait(atomic_int *word, int value)
{
    while (atomic_load_explicit(word, memory_order_relaxed) == value)
        ;
}

static int cas(atomic_int *word, int from, int to)
{
    atomic_compare_exchange_strong_explicit(word, &from, to, memory_order_acquire, memory_order_relaxed);
    return from;
}

static void mutex_lock(mutex *x)
{
    int c = cas(&x->state, FREE, TAKEN);

    if (c == FREE)
        return;
    do {
        if (c == CONTENDED || cas(&x->state, TAKEN, CONTENDED) != FREE)
            futex_wait(&x->state, CONTENDED);
        c = cas(&x->state, FREE, CONTENDED);
    } while (c != FREE);
}

static void mutex_unlock(mutex *x)
{
    if (atomic_fetch_sub_explicit(&x->state, 1, memory_order_release) != TAKEN)
        atomic_store_explicit(&x->state, FREE, memory_order_release);
}

static void *worker(void *arg)
{
    (void)arg;
    for (int round = 2; round--;) {
        mutex_lock(&m);
        counter++;
        mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(counter == 4);
    assert(m.state == FREE);
    return 0;
}
