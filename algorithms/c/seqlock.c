// seqlock: a writer that never waits, a reader that tries again, with release and acquire fences
// property: the reader gets both halves from the same write
// expect sc: correct (the number changes when a write begins and when it ends)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (as protocol/seqlock.fen)
// expect pso: correct (a release fence behind the odd number, a release store of the even one)
// expect pso: cost 0 (protocol/seqlock.fen without its two fences costs 2)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_uint seq;
static struct {
    atomic_int left, right;
} pair;

static void write_pair(int k)
{
    unsigned s = atomic_load_explicit(&seq, memory_order_relaxed);

    atomic_store_explicit(&seq, s + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&pair.left, k, memory_order_relaxed);
    atomic_store_explicit(&pair.right, k, memory_order_relaxed);
    atomic_store_explicit(&seq, s + 2, memory_order_release);
}

static void read_pair(int *l, int *r)
{
    unsigned before, after;

    do {
        before = atomic_load_explicit(&seq, memory_order_acquire);
        *l = atomic_load_explicit(&pair.left, memory_order_relaxed);
        *r = atomic_load_explicit(&pair.right, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&seq, memory_order_relaxed);
    } while ((before & 1) || before != after);
}

static void *writer(void *arg)
{
    (void)arg;
    for (int k = 1; k <= 2; k++)
        write_pair(k);
    return NULL;
}

static void *reader(void *arg)
{
    int l, r;

    (void)arg;
    read_pair(&l, &r);
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
