// rwlock-flags: a lock that is cheap for its readers, each reader a flag and the writer one
// property: a reader sees both halves of the data from the same write
// expect sc: correct (each raises its flag before it looks)
// expect tso: violated (reader and writer both load before their flags are out)
// expect tso: cost 2 (as lock/read-write.fen; one in the reader, one in the writer)
// expect pso: violated (as under TSO)
// expect pso: cost 2 (as lock/read-write.fen; the writer leaves by a release)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool writing;
static struct {
    atomic_bool inside;
} readers[2];
static int left, right;

static void *reader(void *arg)
{
    atomic_bool *mine = arg;

again:
    atomic_store_explicit(mine, true, memory_order_relaxed);
    if (atomic_load_explicit(&writing, memory_order_relaxed)) {
        atomic_store_explicit(mine, false, memory_order_relaxed);
        while (atomic_load_explicit(&writing, memory_order_relaxed))
            ;
        goto again;
    }
    int l = left;
    int r = right;
    assert(l == r);
    atomic_store_explicit(mine, false, memory_order_relaxed);
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    atomic_store_explicit(&writing, true, memory_order_relaxed);
    for (int i = 0; i < 2; i++)
        while (atomic_load_explicit(&readers[i].inside, memory_order_relaxed))
            ;
    left = 1;
    right = 1;
    atomic_store_explicit(&writing, false, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t r[2], w;

    for (int i = 0; i < 2; i++)
        pthread_create(&r[i], NULL, reader, &readers[i].inside);
    pthread_create(&w, NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(r[i], NULL);
    pthread_join(w, NULL);
    return 0;
}
