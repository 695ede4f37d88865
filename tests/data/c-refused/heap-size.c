// refused: 14:22 the size of an allocated block

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_int x;

static void *worker(void *arg)
{
    (void)arg;
    char *p = malloc((size_t)atomic_fetch_add(&x, 1) + 1);
    p[0] = 0;
    free(p);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
