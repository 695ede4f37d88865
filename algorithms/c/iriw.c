// iriw: independent reads of independent writes, four threads
// property: the two readers do not see the two stores in opposite orders
// expect sc: correct (one order of all)
// expect tso: correct (a store reaches all other threads at the same time)
// expect tso: cost 0 (as litmus/iriw.fen)
// expect pso: correct (as under TSO)
// expect pso: cost 0 (as litmus/iriw.fen)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int v[2];
static int r[2][2];

static void *writer(void *arg)
{
    atomic_store_explicit((atomic_int *)arg, 1, memory_order_relaxed);
    return NULL;
}

static void *reader(void *arg)
{
    int me = (int)(long)arg;

    r[me][0] = atomic_load_explicit(&v[me], memory_order_relaxed);
    r[me][1] = atomic_load_explicit(&v[1 - me], memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t[4];

    for (long i = 0; i < 2; i++) {
        pthread_create(&t[i], NULL, writer, &v[i]);
        pthread_create(&t[2 + i], NULL, reader, (void *)i);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert(!(r[0][0] == 1 && r[0][1] == 0 && r[1][0] == 1 && r[1][1] == 0));
    return 0;
}
