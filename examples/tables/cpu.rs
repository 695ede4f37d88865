//! The CPU time of this process: on a busy machine it says more than the clock on the wall.

use rustix::time::{ClockId, clock_gettime};

/// CPU time of all threads until now.
pub fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
