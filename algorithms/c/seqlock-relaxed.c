// seqlock-relaxed: a writer that never waits, a reader that tries again, relaxed orders and no fences
// property: the reader gets both halves from the same write
// expect sc: correct (the number changes when a write begins and when it ends)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (as protocol/seqlock.fen)
// expect pso: violated (number and data overtake each other)
// expect pso: cost 2 (as protocol/seqlock.fen; behind the odd number and before the even one)

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <pthread.h>

#define LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static atomic_int seq, half[2];

static void *writer(void *arg)
{
    (void)arg;
    for (int k = 1; k <= 2; k++) {
        STORE(&seq, 2 * k - 1);
        STORE(&half[0], k);
        STORE(&half[1], k);
        STORE(&seq, 2 * k);
    }
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    for (;;) {
        int before = LOAD(&seq);
        if (before % 2 != 0)
            continue;
        int a = LOAD(&half[0]);
        int b = LOAD(&half[1]);
        if (LOAD(&seq) != before)
            continue;
        assert(a == b);
        break;
    }
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
