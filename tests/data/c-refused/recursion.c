// refused: 12:29 'sum' calls itself

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x;

static int sum(int n)
{
    return n == 0 ? 0 : n + sum(n - 1);
}

static void *worker(void *arg)
{
    (void)arg;
    x = sum(3);
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
