#pragma once
#include <sched.h>
#include <stddef.h>
#include <time.h>

typedef unsigned long pthread_t;
typedef unsigned int pthread_key_t;
typedef int pthread_once_t;
typedef int pthread_spinlock_t;
typedef struct { int __lock; } pthread_mutex_t;
typedef struct { int __waiting; } pthread_cond_t;
typedef struct { int __lock; } pthread_rwlock_t;
typedef struct { int __count; int __arrived; int __phase; } pthread_barrier_t;
typedef struct { int __flags; } pthread_attr_t;
typedef struct { int __kind; } pthread_mutexattr_t;
typedef struct { int __flags; } pthread_condattr_t;
typedef struct { int __flags; } pthread_rwlockattr_t;
typedef struct { int __flags; } pthread_barrierattr_t;

#define PTHREAD_MUTEX_INITIALIZER { 0 }
#define PTHREAD_COND_INITIALIZER { 0 }
#define PTHREAD_RWLOCK_INITIALIZER { 0 }
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define PTHREAD_CANCELED ((void *)-1)

#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_MUTEX_DEFAULT PTHREAD_MUTEX_NORMAL
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
