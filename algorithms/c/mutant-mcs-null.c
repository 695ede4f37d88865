// mutant-mcs-null: the MCS lock of mcs, whose release does not wait for the link
// property: no null pointer is followed
// expect sc: violated (the next one has swapped the tail and not yet linked itself)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct qnode {
    struct qnode *_Atomic next;
    atomic_int wait;
};

static struct qnode *_Atomic tail;
static int counter;

static void lock(struct qnode *me)
{
    me->next = NULL;
    me->wait = 1;
    struct qnode *before = atomic_exchange(&tail, me);
    if (before) {
        before->next = me;
        while (me->wait)
            ;
    }
}

static void unlock(struct qnode *me)
{
    struct qnode *expected = me;

    if (atomic_compare_exchange_strong(&tail, &expected, NULL))
        return;
    struct qnode *after = me->next;
    after->wait = 0;
}

static void *worker(void *arg)
{
    (void)arg;
    struct qnode mine;

    lock(&mine);
    counter++;
    unlock(&mine);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
