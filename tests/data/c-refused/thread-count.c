// refused: 24:9 the number of threads depends

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int finished;

static void *worker(void *arg)
{
    (void)arg;
    finished++;
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    int n = 0;

    pthread_create(&t[n++], NULL, worker, NULL);
    while (atomic_load(&finished) == 0 && n < 3)
        pthread_create(&t[n++], NULL, worker, NULL);
    while (n > 0)
        pthread_join(t[--n], NULL);
    return 0;
}
