// mutant-lost-update: two threads increment by a load and a store, on an _Atomic variable
// property: no increment is lost
// expect sc: violated (both load 0 before either stores 1, as litmus/inc+inc.fen)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static _Atomic int counter;

static void *worker(void *arg)
{
    (void)arg;
    counter = counter + 1;
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
