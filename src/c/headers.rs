//! The headers of the system, as programs are read with them.
//!
//! They declare types, constants and macros. Functions are not declared: the operations of
//! atomics are generic, and all of them are known by name, so that each stays a call.

/// Names and texts, in the order of names.
pub const HEADERS: &[(&str, &str)] = &[
    ("assert.h", include_str!("headers/assert.h")),
    ("errno.h", include_str!("headers/errno.h")),
    ("inttypes.h", include_str!("headers/inttypes.h")),
    ("limits.h", include_str!("headers/limits.h")),
    ("pthread.h", include_str!("headers/pthread.h")),
    ("sched.h", include_str!("headers/sched.h")),
    ("semaphore.h", include_str!("headers/semaphore.h")),
    ("stdalign.h", include_str!("headers/stdalign.h")),
    ("stdatomic.h", include_str!("headers/stdatomic.h")),
    ("stdbool.h", include_str!("headers/stdbool.h")),
    ("stddef.h", include_str!("headers/stddef.h")),
    ("stdint.h", include_str!("headers/stdint.h")),
    ("stdio.h", include_str!("headers/stdio.h")),
    ("stdlib.h", include_str!("headers/stdlib.h")),
    ("stdnoreturn.h", include_str!("headers/stdnoreturn.h")),
    ("string.h", include_str!("headers/string.h")),
    ("sys/time.h", include_str!("headers/sys/time.h")),
    ("sys/types.h", include_str!("headers/sys/types.h")),
    ("threads.h", include_str!("headers/threads.h")),
    ("time.h", include_str!("headers/time.h")),
    ("unistd.h", include_str!("headers/unistd.h")),
];
