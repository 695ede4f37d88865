// message: a message in several words and a flag that the receiver spins on, relaxed orders
// property: the receiver gets the whole message
// expect sc: correct (the flag is raised last)
// expect tso: correct (as litmus/mp.fen)
// expect tso: cost 0 (as litmus/mp.fen)
// expect pso: violated (the flag overtakes the message)
// expect pso: cost 1 (as litmus/mp.fen; before the flag)

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <threads.h>

struct message {
    unsigned short length;
    unsigned char text[2];
};

static struct message box;
static atomic_int full;

static int sender(void *arg)
{
    struct message *m = arg;
    unsigned char *p = m->text;

    *p++ = 'o';
    *p = 'k';
    m->length = (unsigned short)(p - m->text + 1);
    atomic_store_explicit(&full, 1, memory_order_relaxed);
    return 0;
}

static int receiver(void *arg)
{
    const struct message *m = arg;

    while (!atomic_load_explicit(&full, memory_order_relaxed))
        ;
    assert(m->length == 2);
    assert(m->text[0] == 'o' && m->text[m->length - 1] == 'k');
    return 0;
}

int main(void)
{
    thrd_t s, r;

    thrd_create(&s, sender, &box);
    thrd_create(&r, receiver, &box);
    thrd_join(s, NULL);
    thrd_join(r, NULL);
    return 0;
}
