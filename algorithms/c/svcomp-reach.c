// svcomp-reach: the idioms of the verification competition, a bounded buffer of one under atomic sections
// property: reach_error is not reached
// expect sc: correct (sections are atomic)
// expect tso: correct (sections are atomic and drain)
// expect tso: cost 0 (it is correct)
// expect pso: correct (sections are atomic and drain)
// expect pso: cost 0 (it is correct)
// note: compiles, but there is nothing to link it with

#include <pthread.h>

extern void abort(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

void __VERIFIER_assert(int cond)
{
    if (!(cond)) {
        reach_error();
        abort();
    }
}

int full, slot, sent, received;

void *producer(void *arg)
{
    int x = __VERIFIER_nondet_int();

    __VERIFIER_assume(x >= 1 && x <= 3);
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(full == 0);
    slot = x;
    full = 1;
    sent = x;
    __VERIFIER_atomic_end();
    return arg;
}

void *consumer(void *arg)
{
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(full == 1);
    received = slot;
    full = 0;
    __VERIFIER_atomic_end();
    __VERIFIER_assert(received >= 1 && received <= 3);
    return arg;
}

int main(void)
{
    pthread_t p, c;

    pthread_create(&p, 0, producer, 0);
    pthread_create(&c, 0, consumer, 0);
    pthread_join(p, 0);
    pthread_join(c, 0);
    __VERIFIER_assert(sent == received);
    return 0;
}
