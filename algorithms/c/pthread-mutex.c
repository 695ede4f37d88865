// pthread-mutex: three threads move money between accounts under a pthread mutex
// property: no money is made or lost
// expect sc: correct (one thread at a time)
// expect tso: correct (unlocking drains)
// expect tso: cost 0 (correct already)
// expect pso: correct (unlocking drains)
// expect pso: cost 0 (correct already)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct account {
    int balance;
    struct {
        int in, out;
    } moves;
};

static struct account bank[2] = { { .balance = 5 }, { .balance = 5 } };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

struct order {
    struct account *from, *to;
    int amount;
};

static int transfer(struct account *from, struct account *to, int amount)
{
    if (from->balance < amount)
        return 0;
    from->balance -= amount;
    from->moves.out++;
    to->balance += amount;
    to->moves.in++;
    return 1;
}

static void *clerk(void *arg)
{
    struct order *o = arg;

    pthread_mutex_lock(&m);
    int done = transfer(o->from, o->to, o->amount);
    assert(done);
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    struct order orders[3] = {
        { &bank[0], &bank[1], 1 },
        { &bank[1], &bank[0], 2 },
        { bank, bank + 1, 1 },
    };
    pthread_t t[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, clerk, &orders[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    pthread_mutex_destroy(&m);
    assert(bank[0].balance == 5 && bank[1].balance == 5);
    assert(bank[0].moves.out + bank[1].moves.out == 3);
    assert(bank[0].moves.in + bank[1].moves.in == 3);
    return 0;
}
