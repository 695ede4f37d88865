extern void __VERIFIER_assume(int);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
void reach_error(void) { }
#include <pthread.h>

int x, y;

void *writer(void *arg)
{
    int n = 2 - __VERIFIER_nondet_bool();
    __VERIFIER_assume(n >= 1 && n <= 2);
    __VERIFIER_atomic_begin();
    x = n;
    y = n;
    __VERIFIER_atomic_end();
    pthread_exit(0);
}

void *reader(void *arg)
{
    int a = __atomic_load_n(&y, __ATOMIC_ACQUIRE);
    if (a && __atomic_load_n(&x, __ATOMIC_RELAXED) != a) {
    ERROR:
        reach_error();
    }
    return 0;
}

int main()
{
    pthread_t w, r;
    pthread_create(&w, 0, writer, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
