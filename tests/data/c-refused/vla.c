// refused: 12:13 the length of an array must be constant

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x;

static int fill(int n)
{
    int row[n];

    for (int i = 0; i < n; i++)
        row[i] = i;
    return row[n - 1];
}

static void *worker(void *arg)
{
    (void)arg;
    x = fill(atomic_load(&x) + 1);
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
