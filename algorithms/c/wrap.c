// wrap: an unsigned 8-bit ticket lock that starts at 255 and wraps, with conversions on the way
// property: no increment is lost
// expect sc: correct (unsigned numbers wrap)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (correct already)
// expect pso: correct (leaving is a release)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

static _Atomic uint8_t next = UINT8_MAX, serving = UINT8_MAX;
static signed char counter = -1;

static void *worker(void *arg)
{
    (void)arg;
    uint8_t mine = next++;
    while (serving != mine)
        ;
    counter += 1;
    mine += 1;
    atomic_store_explicit(&serving, mine, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 1);
    assert(serving == 1 && (uint8_t)(serving - 2) == 255);
    return 0;
}
