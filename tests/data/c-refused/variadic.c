// refused: 7:10 stdarg.h

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdarg.h>

static atomic_int x;

static void add_all(int n, ...)
{
    va_list ap;

    va_start(ap, n);
    while (n-- > 0)
        x += va_arg(ap, int);
    va_end(ap);
}

static void *worker(void *arg)
{
    (void)arg;
    add_all(2, 1, 2);
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
