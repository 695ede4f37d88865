// mutant-out-of-bounds: three threads log their number in a row of two
// property: no cell beyond the end is written
// expect sc: violated (the third gets index 2)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define ROOM 2

static struct {
    atomic_int used;
    int entry[ROOM];
    int after;
} journal;

static void *worker(void *arg)
{
    int at = atomic_fetch_add_explicit(&journal.used, 1, memory_order_relaxed);
    int *e = journal.entry + at;

    *e = *(int *)arg;
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    int id[3] = { 1, 2, 3 };

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, id + i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(journal.entry[0] != 0);
    return 0;
}
