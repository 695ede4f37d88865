// c11-mtx: threads and mutex of C11's threads.h, the lock in a struct next to what it guards
// property: every thread sees a total that is whole
// expect sc: correct (one thread at a time)
// expect tso: correct (unlocking drains)
// expect tso: cost 0 (correct already)
// expect pso: correct (unlocking drains)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <threads.h>

typedef struct {
    mtx_t guard;
    int part[2];
    int total;
} ledger;

static ledger books;

static int book(void *arg)
{
    int which = *(int *)arg;

    for (int i = 1; i <= 2; i++) {
        mtx_lock(&books.guard);
        assert(books.total == books.part[0] + books.part[1]);
        books.part[which] += i;
        books.total += i;
        mtx_unlock(&books.guard);
    }
    return books.part[which];
}

int main(void)
{
    thrd_t t[2];
    int which[2] = { 0, 1 };
    int result[2];

    if (mtx_init(&books.guard, mtx_plain) != thrd_success)
        return 1;
    for (int i = 0; i < 2; i++)
        if (thrd_create(&t[i], book, &which[i]) != thrd_success)
            return 1;
    for (int i = 0; i < 2; i++)
        thrd_join(t[i], &result[i]);
    assert(result[0] == 3 && result[1] == 3);
    assert(books.total == 6);
    mtx_destroy(&books.guard);
    return 0;
}
