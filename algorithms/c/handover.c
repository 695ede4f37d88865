// handover: one cell handed over by a flag three times, the flag's states in an enum
// property: the consumer gets what was put, in order
// expect sc: correct (the flag says whose cell it is)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (as protocol/handshake.fen)
// expect pso: violated (the flag overtakes the cell)
// expect pso: cost 1 (as protocol/handshake.fen; before the cell is called full)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef enum { EMPTY, FULL } cell_state;

static _Atomic cell_state state = EMPTY;
static int cell;

static void await(cell_state wanted)
{
    while (atomic_load_explicit(&state, memory_order_relaxed) != wanted)
        ;
}

static void announce(cell_state s)
{
    atomic_store_explicit(&state, s, memory_order_relaxed);
}

static void *producer(void *arg)
{
    (void)arg;
    for (int item = 1; item <= 3; item++) {
        await(EMPTY);
        cell = item;
        announce(FULL);
    }
    return NULL;
}

static void *consumer(void *arg)
{
    int wanted = 1;

    (void)arg;
    do {
        await(FULL);
        assert(cell == wanted);
        announce(EMPTY);
    } while (wanted++ < 3);
    return NULL;
}

int main(void)
{
    pthread_t p, c;

    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    return 0;
}
