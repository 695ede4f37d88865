// What include-lock.c is made of: numbers.
#ifndef CONFIG_H
#define CONFIG_H

#ifndef NTHREADS
#define NTHREADS 2
#endif

#ifndef ROUNDS
#define ROUNDS 2
#endif

#define FOREACH_THREAD(i) for (int i = 0; i < NTHREADS; i++)

#endif
