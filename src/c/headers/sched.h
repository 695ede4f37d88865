#pragma once
#include <stddef.h>
typedef int pid_t;
struct sched_param { int sched_priority; };
#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2
