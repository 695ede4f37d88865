//! Threads that share the work of a search.

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Fewer states than this are not worth a second thread.
pub(super) const PARALLEL: usize = 2048;

/// Runs a task once for every worker, on threads if it is worth while.
pub(super) fn in_parallel<W: Send>(
    workers: &mut [W],
    pool: &mut Option<ThreadPool>,
    worth_while: bool,
    task: impl Fn(&mut W) + Sync,
) {
    if workers.len() == 1 || !worth_while {
        return task(&mut workers[0]);
    }
    let builder = || {
        ThreadPoolBuilder::new()
            .num_threads(workers.len())
            .build()
            .ok()
    };
    if pool.is_none() {
        *pool = builder();
    }
    match pool {
        None => task(&mut workers[0]),
        Some(pool) => pool.scope(|scope| {
            for worker in workers {
                scope.spawn(|_| task(worker));
            }
        }),
    }
}
