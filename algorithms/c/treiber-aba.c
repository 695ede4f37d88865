// treiber-aba: Treiber's stack of static nodes that are used again, the ABA mistake
// property: nobody has a node that another one has, and no node is lost
// expect sc: violated (top goes away and comes back with another node below it)
// expect tso: violated (as under SC)
// expect tso: incorrect (wrong under SC)
// expect pso: violated (as under SC)
// expect pso: incorrect (wrong under SC)

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define NONE 0

static atomic_int top = 1;                      /* 1 -> 2 -> 3 */
static atomic_int next[4] = { NONE, 2, 3, NONE };
static atomic_int user[4];                      /* how many think that they own the node */

static int pop(void)
{
    int t = top, n;

    do {
        if (t == NONE)
            return NONE;
        n = next[t];
    } while (!atomic_compare_exchange_strong(&top, &t, n));
    assert(user[t]++ == 0);
    return t;
}

static void push(int node)
{
    int t = top;

    user[node]--;
    do
        next[node] = t;
    while (!atomic_compare_exchange_strong(&top, &t, node));
}

static void *slow(void *arg)
{
    (void)arg;
    pop();
    pop();
    return NULL;
}

static void *quick(void *arg)
{
    int a, b;

    (void)arg;
    a = pop();
    b = pop();
    (void)b;
    if (a != NONE)
        push(a);
    return NULL;
}

int main(void)
{
    pthread_t s, q;

    pthread_create(&s, NULL, slow, NULL);
    pthread_create(&q, NULL, quick, NULL);
    pthread_join(s, NULL);
    pthread_join(q, NULL);
    return 0;
}
