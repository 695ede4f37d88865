// mailbox-matrix: two threads send each other a word through a two-dimensional array of boxes, and answer
// property: each gets the word of the other, plus one, back
// expect sc: correct (a box is filled once)
// expect tso: correct (a word and its mark are one)
// expect tso: cost 0 (correct already)
// expect pso: correct (a word and its mark are one)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef _Atomic uint16_t box_t;
enum { ASK, REPLY, KINDS };

static box_t box[2][KINDS];                 /* box[receiver][kind], 0 is empty */
static _Thread_local unsigned waits;

static uint16_t receive(box_t *b)
{
    uint16_t w;

    for (; (w = atomic_load_explicit(b, memory_order_relaxed)) == 0; waits |= 1)
        ;
    return w;
}

static void *peer(void *arg)
{
    int me = (int)(long)arg, you = !me;
    uint16_t word = (uint16_t)(7 + 10 * me), back;

    atomic_store_explicit(&box[you][ASK], word, memory_order_relaxed);
    atomic_store_explicit(&box[you][REPLY], (uint16_t)(receive(&box[me][ASK]) + 1), memory_order_relaxed);
    back = receive(&box[me][REPLY]);
    assert(back == word + 1);
    assert(waits <= 1);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, peer, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
