// A spin lock whose unlock is relaxed, for include-lock.c; the fence that PSO needs goes in here.
#ifndef SPINLOCK_H
#define SPINLOCK_H

#include <stdatomic.h>

typedef struct spinlock {
    atomic_int word;
} spinlock;

#define SPINLOCK_INIT { 0 }

static inline int spin_try(spinlock *s)
{
    int unlocked = 0;

    return atomic_compare_exchange_strong_explicit(&s->word, &unlocked, 1,
                                                   memory_order_acquire, memory_order_relaxed);
}

static inline void spin_lock(spinlock *s)
{
    while (!spin_try(s))
        ;
}

static inline void spin_unlock(spinlock *s)
{
    atomic_store_explicit(&s->word, 0, memory_order_relaxed);
}

#endif
