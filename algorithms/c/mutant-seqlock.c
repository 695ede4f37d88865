// mutant-seqlock: the sequence lock of seqlock, whose reader does not ask whether a write is under way
// property: the reader gets both halves from the same write
// expect sc: violated (the number is odd before and after)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_uint seq;
static atomic_int left, right;

static void *writer(void *arg)
{
    (void)arg;
    atomic_fetch_add(&seq, 1);
    atomic_store(&left, 1);
    atomic_store(&right, 1);
    atomic_fetch_add(&seq, 1);
    return NULL;
}

static void *reader(void *arg)
{
    unsigned before;
    int l, r;

    (void)arg;
    do {
        before = atomic_load(&seq);
        l = atomic_load(&left);
        r = atomic_load(&right);
    } while (before != atomic_load(&seq));
    assert(l == r);
    return NULL;
}

int main(void)
{
    pthread_t w, r;

    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    return 0;
}
