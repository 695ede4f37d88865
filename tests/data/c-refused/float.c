// refused: 9:8 floating-point numbers

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int done;
static double share = 0.5;

static void *worker(void *arg)
{
    (void)arg;
    share = share / 2;
    atomic_fetch_add(&done, 1);
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
