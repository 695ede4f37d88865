// mutant-missing-unlock: a spin lock that an early return leaves taken
// property: the lock is free in the end
// expect sc: violated (who finds nothing left returns with the lock)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_bool taken;
static int stock = 1;

static bool take_one(void)
{
    while (atomic_exchange_explicit(&taken, true, memory_order_acquire))
        ;
    if (stock == 0)
        return false;
    stock--;
    atomic_store_explicit(&taken, false, memory_order_release);
    return true;
}

static void *worker(void *arg)
{
    *(bool *)arg = take_one();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    bool got_a, got_b;

    pthread_create(&a, NULL, worker, &got_a);
    pthread_create(&b, NULL, worker, &got_b);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(got_a != got_b);
    assert(!atomic_load(&taken));
    return 0;
}
