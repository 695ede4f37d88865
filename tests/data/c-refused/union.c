// refused: 8:8 unions are not read

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static union {
    int whole;
    short half[2];
} word;
static atomic_int x;

static void *worker(void *arg)
{
    (void)arg;
    word.half[0] = 1;
    x = word.whole;
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
