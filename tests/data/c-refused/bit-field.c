// refused: 9:14 bit fields are not read

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static struct {
    unsigned busy : 1;
    unsigned users : 3;
} state;

static void *worker(void *arg)
{
    (void)arg;
    state.busy = 1;
    state.users++;
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
