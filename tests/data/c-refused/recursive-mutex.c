// refused: 9:18 only plain locks are read
#include <assert.h>
#include <threads.h>

static mtx_t m;

int main(void)
{
    mtx_init(&m, mtx_recursive);
    mtx_lock(&m);
    mtx_lock(&m);
    assert(0);
    return 0;
}
