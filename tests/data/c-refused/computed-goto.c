// refused: 12:42 this is not C as it is read here

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x;

static void *worker(void *arg)
{
    static const void *const table[] = { &&up, &&down };

    (void)arg;
    goto *table[x & 1];
up:
    x++;
    return NULL;
down:
    x--;
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
