// refused: 23:12 'even' calls itself

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x;

static int odd(int n);

static int even(int n)
{
    if (n == 0)
        return 1;
    return odd(n - 1);
}

static int odd(int n)
{
    if (n == 0)
        return 0;
    return even(n - 1);
}

static void *worker(void *arg)
{
    (void)arg;
    x = even(4);
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
