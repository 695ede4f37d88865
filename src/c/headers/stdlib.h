/* Functions are not declared: malloc, free, abort and exit are calls by name. */
#pragma once
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
