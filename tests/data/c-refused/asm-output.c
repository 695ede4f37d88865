// refused: 8:5 assembly that gives a variable a value
#include <assert.h>

int main(void)
{
    int x = 0, y = 1;

    asm volatile("" : "=r"(x) : "0"(y));
    assert(x == 0);
    return 0;
}
