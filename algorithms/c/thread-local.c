// thread-local: threads count for themselves in thread-local variables and add up at the end by an update
// property: the total is exact, and nobody sees another's count
// expect sc: correct (only the total is shared)
// expect tso: correct (the total is updated at once)
// expect tso: cost 0 (correct already)
// expect pso: correct (the total is updated at once)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

static _Thread_local int count;
static __thread int *where = NULL;
static _Atomic uint64_t total;

static void tick(void)
{
    static atomic_int calls;

    where = &count;
    ++*where;
    calls += 1;
    assert(calls >= count);
}

static void *worker(void *arg)
{
    int n = *(int *)arg;

    for (int i = 0; i < n; ++i)
        tick();
    assert(count == n);
    total += (uint64_t)count;
    return NULL;
}

int main(void)
{
    int n[2] = { 1, 2 };
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &n[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(total == 3 && count == 0);
    return 0;
}
