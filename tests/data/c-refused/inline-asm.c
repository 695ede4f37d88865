// refused: 13:5 this assembly is not read

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int x;

static void *worker(void *arg)
{
    (void)arg;
    asm volatile("lock; incl %0" : "+m"(x) : : "memory");
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
