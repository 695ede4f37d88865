// refused: 20:34 functions are only read

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x;

static void add(void)
{
    x++;
}

static void sub(void)
{
    x--;
}

static void (*todo[2])(void) = { add, sub };

static void *worker(void *arg)
{
    (void)arg;
    todo[x & 1]();
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
