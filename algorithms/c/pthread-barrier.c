// pthread-barrier: two threads fill a row of a table each and then read the other's
// property: behind the barrier both rows are full
// expect sc: correct (nobody passes before all have come)
// expect tso: correct (the barrier drains)
// expect tso: cost 0 (correct already)
// expect pso: correct (the barrier drains)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int table[2][2];
static pthread_barrier_t bar;

static void *worker(void *arg)
{
    int me = (int)(long)arg;
    int sum = 0;

    for (int j = 0; j < 2; j++)
        table[me][j] = 1 + j;
    pthread_barrier_wait(&bar);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            sum += table[i][j];
    assert(sum == 6);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_barrier_init(&bar, NULL, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_destroy(&bar);
    return 0;
}
