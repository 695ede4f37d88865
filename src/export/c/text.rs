//! The fixed parts of a C program.

/// Words that nothing of a program may be called.
pub const RESERVED: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
    "typeof",
    "linux",
    "unix",
    "main",
    "assert",
    "abort",
    "exit",
    "rand",
    "index",
    "time",
    "stdin",
    "stdout",
    "stderr",
    "errno",
    "bool",
    "true",
    "false",
    "NULL",
    "AGAIN",
    "ASSUME",
    "CHOOSE",
    "CHOOSE_ANY",
    "DIV",
    "EOF",
    "FINAL",
    "FINISH",
    "MAGNITUDE",
    "REM",
    "SHL",
    "WAIT_FOR",
    "blocked",
    "check",
    "choice",
    "chosen",
    "finished",
    "found",
    "monitor",
    "number",
    "old",
    "steps",
    "t",
    "temporary",
    "tried",
    "unused",
];

/// Everything before the variables.
pub fn head(sequential: bool, wide: bool) -> String {
    let atomics = match sequential {
        true => "",
        false => "#include <stdatomic.h>\n",
    };
    let head = match wide {
        true => HEAD
            .replace("nondet_int", "nondet_longlong")
            .replace("\nint __V", "\nlong long __V"),
        false => HEAD.to_string(),
    };
    let head = match wide {
        true => format!("{head}{WIDE}").replace("x = (int)(", "x = ("),
        false => head,
    };
    format!("#include <assert.h>\n#include <pthread.h>\n{atomics}#include <stdlib.h>\n{head}\n")
}

const WIDE: &str = r"
/* Integers without bound have 64 bits here: what overflows them is not meant. */
#if defined __FENCESMITH__ || defined __CPROVER || defined VERIFIER
#define CHOOSE_ANY(x) x = __VERIFIER_nondet_longlong()
#else
#define CHOOSE_ANY(x) x = rand() - RAND_MAX / 2
#endif
";

const HEAD: &str = r"
#if defined __FENCESMITH__ || defined __CPROVER || defined VERIFIER
/* A verifier: it makes all choices, and a step that must wait is not taken. */
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int);
int __VERIFIER_nondet_int(void);
#define CHOOSE(x, low, high) \
    x = __VERIFIER_nondet_int(); \
    __VERIFIER_assume((low) <= x && x <= (high))
#define ASSUME(condition) __VERIFIER_assume(condition)
#define WAIT_FOR(condition, again) __VERIFIER_assume(condition)
#define AGAIN 0
#define FINISH(join)
#define FINAL(condition) assert(condition)
#else
/* A run: choices are made by rand, and a step that must wait is tried again. */
#include <sched.h>
static pthread_mutex_t steps = PTHREAD_MUTEX_INITIALIZER;
static volatile int finished, blocked;
static _Thread_local int tried;
#define __VERIFIER_atomic_begin() pthread_mutex_lock(&steps)
#define __VERIFIER_atomic_end() pthread_mutex_unlock(&steps)
#define CHOOSE(x, low, high) x = (int)((low) + rand() % ((long long)(high) - (low) + 1))
#define ASSUME(condition) \
    if (!(condition)) { blocked = 1; return; }
#define WAIT_FOR(condition, again) \
    if (!(condition)) { \
        __VERIFIER_atomic_end(); \
        sched_yield(); \
        if (finished && ++tried > 1000) { blocked = 1; return; } \
        goto again; \
    }
#define AGAIN !finished
#define FINISH(join) finished = 1; join
#define FINAL(condition) if (!blocked) assert(condition)
#endif
#define MAGNITUDE(b) (((b) < 0) * -(long long)(b) + ((b) >= 0) * (long long)(b))
#define REM(a, b) ((int)(((long long)(a) % (b) + MAGNITUDE(b)) % MAGNITUDE(b)))
#define DIV(a, b) ((int)(((long long)(a) - REM(a, b)) / (b)))
#define SHL(a, b) ((a) * (1 << (b) / 2) * (1 << ((b) - (b) / 2)) + 0 * (1 << (b)))
";
