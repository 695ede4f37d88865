// hazard-seqcst: hazard pointers with C's default order, two readers and a writer that retires one block
// property: nothing is read after it is freed
// expect sc: correct (the reader announces, and then makes sure that the block is still the current one)
// expect tso: correct (the announcement is a sequentially consistent store)
// expect tso: cost 0 (correct already)
// expect pso: correct (as under TSO)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define READERS 2

static int *_Atomic current;
static int *_Atomic hazard[READERS];

static int *fresh(int k)
{
    int *p = malloc(sizeof(int));

    *p = k;
    return p;
}

static void *reader(void *arg)
{
    int *_Atomic *mine = arg;
    int *p;

    do {
        p = current;
        *mine = p;
    } while (p != current);
    assert(*p == 1 || *p == 2);
    *mine = NULL;
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    int *old = atomic_exchange(&current, fresh(2));
    for (int i = 0; i < READERS; i++)
        while (hazard[i] == old)
            ;
    free(old);
    return NULL;
}

int main(void)
{
    pthread_t r[READERS], w;

    current = fresh(1);
    for (int i = 0; i < READERS; i++)
        pthread_create(&r[i], NULL, reader, &hazard[i]);
    pthread_create(&w, NULL, writer, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_join(r[i], NULL);
    pthread_join(w, NULL);
    return 0;
}
