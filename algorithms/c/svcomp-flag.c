// svcomp-flag: the idioms of the verification competition around a plain flag and data, no atomics at all
// property: reach_error is not reached
// expect sc: correct (the data is stored first)
// expect tso: correct (stores leave in order)
// expect tso: cost 0 (as litmus/mp.fen)
// expect pso: violated (the flag overtakes the data)
// expect pso: cost 1 (as litmus/mp.fen; before the flag)
// note: compiles, but there is nothing to link it with

#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void abort(void);

void reach_error(void) { assert(0); }

volatile int data, flag;

void *t1(void *arg)
{
    int v = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 < v && v < 3);
    data = v;
    flag = v;
    return arg;
}

void *t2(void *arg)
{
    int f = flag;
    int d = data;
    __VERIFIER_assume(f != 0);
    if (d != f) {
        reach_error();
    }
    return arg;
}

int main(void)
{
    pthread_t id1, id2;
    pthread_create(&id1, 0, t1, 0);
    pthread_create(&id2, 0, t2, 0);
    pthread_join(id1, 0);
    pthread_join(id2, 0);
    return 0;
}
