// token-ring: three threads add to a sum in turn, a switch says what each of them does
// property: the sum is computed in the order of the ring
// expect sc: correct (one thread has the token)
// expect tso: correct (the sum is out before the token)
// expect tso: cost 0 (correct already)
// expect pso: violated (the token overtakes the sum)
// expect pso: cost 1 (before the token is passed)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum role { START, DOUBLE, ADD, ROLES };

static atomic_int token = START;
static int sum;

static int step(enum role role, int x)
{
    switch (role) {
    case START:
        x = 1;
        break;
    case DOUBLE:
        x <<= 1;
        break;
    case ADD:
        x += 5;
        /* fall through */
    default:
        break;
    }
    return x;
}

static void *station(void *arg)
{
    enum role role = (enum role)(long)arg;

    while (atomic_load_explicit(&token, memory_order_relaxed) != (int)role)
        ;
    sum = step(role, sum);
    atomic_store_explicit(&token, (int)role + 1, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t[ROLES];

    for (long r = START; r < ROLES; r++)
        pthread_create(&t[r], NULL, station, (void *)r);
    for (int r = 0; r < ROLES; r++)
        pthread_join(t[r], NULL);
    assert(sum == 7);
    return 0;
}
