// mutant-signed-overflow: three threads raise a signed number that has room for two
// property: no signed number overflows
// expect sc: violated (the third increment goes beyond INT_MAX)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <limits.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int level = INT_MAX - 2;

static void *worker(void *arg)
{
    int *l = arg;

    pthread_mutex_lock(&m);
    *l = *l + 1;
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, &level);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
