// dijkstra: Dijkstra's algorithm for two threads, ask for the turn and then make sure, relaxed orders
// property: no increment is lost
// expect sc: correct (classic)
// expect tso: violated (the load of the other flag overtakes the own store)
// expect tso: cost 1 (as mutex/dijkstra.fen; behind the store of 2)
// expect pso: violated (as under TSO)
// expect pso: cost 1 (as mutex/dijkstra.fen; leaving is a release)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int turn;
static atomic_int flag[3];          /* nobody is number 0 */
static int counter;

static void lock(int i)
{
    int t;

    do {
        atomic_store_explicit(&flag[i], 1, memory_order_relaxed);
        while ((t = atomic_load_explicit(&turn, memory_order_relaxed)) != i)
            if (!atomic_load_explicit(&flag[t], memory_order_relaxed))
                atomic_store_explicit(&turn, i, memory_order_relaxed);
        atomic_store_explicit(&flag[i], 2, memory_order_relaxed);
    } while (atomic_load_explicit(&flag[3 - i], memory_order_relaxed) == 2);
}

static void *worker(void *arg)
{
    int i = *(int *)arg, round = 0;

    do {
        lock(i);
        counter++;
        atomic_store_explicit(&flag[i], 0, memory_order_release);
    } while (++round < 2);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int one = 1, two = 2;

    pthread_create(&a, NULL, worker, &one);
    pthread_create(&b, NULL, worker, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 4);
    return 0;
}
