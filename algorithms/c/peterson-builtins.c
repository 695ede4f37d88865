// peterson-builtins: Peterson's algorithm by GNU's __atomic builtins, with one full fence in place
// property: no increment is lost
// expect sc: correct (classic)
// expect tso: correct (the fence stands behind the store to turn)
// expect tso: cost 0 (correct already)
// expect pso: violated (turn overtakes flag)
// expect pso: cost 1 (between flag and turn; mutex/peterson.fen costs 2, one of which is in place, and leaving is a release)

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct side {
    int want;
};

static struct {
    struct side side[2];
    int turn;
} pet;

static int counter;

static void *worker(void *arg)
{
    struct side *mine = arg;
    int me = (int)(mine - pet.side);
    struct side *other = &pet.side[1 - me];

    __atomic_store_n(&mine->want, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&pet.turn, 1 - me, __ATOMIC_RELAXED);
    __sync_synchronize();
    while (__atomic_load_n(&other->want, __ATOMIC_ACQUIRE)
           && __atomic_load_n(&pet.turn, __ATOMIC_ACQUIRE) == 1 - me)
        ;
    counter++;
    __atomic_store_n(&mine->want, 0, __ATOMIC_RELEASE);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, worker, &pet.side[0]);
    pthread_create(&b, NULL, worker, &pet.side[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
