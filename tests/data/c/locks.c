#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct {
    atomic_uint next;
    atomic_uint owner;
} ticket_lock;

static ticket_lock lock;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag spin = ATOMIC_FLAG_INIT;
static int counter, guarded;

static void acquire(ticket_lock *l)
{
    unsigned mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&l->owner, memory_order_acquire) != mine)
        ;
}

static void release(ticket_lock *l)
{
    unsigned owner = atomic_load_explicit(&l->owner, memory_order_relaxed);
    atomic_store_explicit(&l->owner, owner + 1, memory_order_release);
}

static void *worker(void *unused)
{
    (void)unused;
    acquire(&lock);
    counter++;
    release(&lock);
    pthread_mutex_lock(&mutex);
    guarded += 2;
    pthread_mutex_unlock(&mutex);
    while (atomic_flag_test_and_set(&spin)) { }
    __sync_synchronize();
    __asm__ volatile("mfence" ::: "memory");
    atomic_flag_clear_explicit(&spin, memory_order_release);
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(counter == 2);
    assert(guarded == 4);
}
