//! How much memory there is to use.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// What the program takes beside the tables of a search, in bytes.
const RESERVE: u64 = 32 << 20;

/// Nine tenths of the memory that is available, or less where the tenth is smaller than the
/// reserve, if the system tells: a search of endlessly many states then ends with an answer
/// before the system ends the process.
pub fn nearly_all() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    let free = system.available_memory();
    let most = limit_of_own_group(&mut system).map_or(free, |most| most.min(free));
    let reserve = (most / 10).max(RESERVE.min(most / 2));
    (most > 0).then_some(most - reserve)
}

/// What the control group of this process leaves it, if it has a limit. Pages of files count as
/// available, as they do for the whole system: the kernel drops them when memory is needed.
fn limit_of_own_group(system: &mut System) -> Option<u64> {
    let own = Pid::from_u32(std::process::id());
    let nothing_more = ProcessRefreshKind::nothing();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), false, nothing_more);
    let group = system.process(own)?.cgroup_limits()?;
    Some(group.total_memory.saturating_sub(group.rss))
}
