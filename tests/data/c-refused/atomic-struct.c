// refused: 5:28 atomic structures are not read
#include <stdatomic.h>

struct pair { int a, b; };
static _Atomic struct pair shared;

int main(void)
{
    struct pair p = { 1, 2 };
    shared = p;
    return 0;
}
