// refused: 10:18 are values of its type
#include <assert.h>

int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int);

int main(void)
{
    /* The range is one of the variable's type, and not of the function's. */
    unsigned x = __VERIFIER_nondet_int();
    __VERIFIER_assume(4294967290u <= x && x <= 4294967295u);
    assert(0);
    return 0;
}
