// rwlock: a reader/writer lock in one word, readers count up and the writer makes it negative
// property: a reader sees both halves of the data from the same write
// expect sc: correct (the word shuts the writer out while readers are in, and the other way round)
// expect tso: correct (all passes through one word)
// expect tso: cost 0 (correct already)
// expect pso: correct (the writer leaves by a release)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define WRITER (-1)

static atomic_int word;
static struct {
    int left, right;
} data;

static void read_lock(atomic_int *w)
{
    for (;;) {
        int n = atomic_load_explicit(w, memory_order_relaxed);
        if (n == WRITER)
            continue;
        if (atomic_compare_exchange_weak_explicit(w, &n, n + 1, memory_order_acquire, memory_order_relaxed))
            return;
    }
}

static void read_unlock(atomic_int *w)
{
    atomic_fetch_sub_explicit(w, 1, memory_order_release);
}

static void write_lock(atomic_int *w)
{
    int none;

    do {
        none = 0;
    } while (!atomic_compare_exchange_weak_explicit(w, &none, WRITER, memory_order_acquire, memory_order_relaxed));
}

static void write_unlock(atomic_int *w)
{
    atomic_store_explicit(w, 0, memory_order_release);
}

static void *reader(void *arg)
{
    (void)arg;
    read_lock(&word);
    assert(data.left == data.right);
    read_unlock(&word);
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    write_lock(&word);
    data.left++;
    data.right++;
    write_unlock(&word);
    return NULL;
}

int main(void)
{
    pthread_t r1, r2, w;

    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r1, NULL, reader, NULL);
    pthread_create(&r2, NULL, reader, NULL);
    pthread_join(r1, NULL);
    pthread_join(r2, NULL);
    pthread_join(w, NULL);
    assert(data.left == 1 && data.right == 1);
    return 0;
}
