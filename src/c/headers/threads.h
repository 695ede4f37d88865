#pragma once
#include <stddef.h>
#include <time.h>

typedef unsigned long thrd_t;
typedef unsigned int tss_t;
typedef int once_flag;
typedef struct { int __lock; } mtx_t;
typedef struct { int __waiting; } cnd_t;
typedef int (*thrd_start_t)(void *);
typedef void (*tss_dtor_t)(void *);

enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };
enum { mtx_plain, mtx_recursive, mtx_timed };

#define thread_local _Thread_local
#define ONCE_FLAG_INIT 0
#define TSS_DTOR_ITERATIONS 4
