//! The memory that a search may use.

use crate::binary::algorithm;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The limit of the control group that the program runs in counts, too: it ends with an answer
/// and is not killed.
#[test]
fn a_control_group_limits_memory() {
    let Some(group) = ControlGroup::new(64 << 20) else {
        eprintln!("skipped: no control group can be made here");
        return;
    };
    let script = "echo $$ >\"$1\"/cgroup.procs && shift && exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(&group.0)
        .arg(env!("CARGO_BIN_EXE_fencesmith"))
        .args(["verify", &algorithm("mutex/filter-3"), "--model", "pso"])
        .args(["--abs", "exact", "--bound", "6", "--search", "plain"])
        .output()
        .expect("there is a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(text.contains("the limit on memory was reached"), "{text}");
}

/// A control group, which is removed in the end.
struct ControlGroup(PathBuf);

impl ControlGroup {
    /// A group with a limit on memory, if this system lets us make one.
    fn new(limit: u64) -> Option<ControlGroup> {
        let hierarchies = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        let name = format!("fencesmith-{}", std::process::id());
        hierarchies.iter().find_map(|(hierarchy, file)| {
            let group = ControlGroup(Path::new(hierarchy).join(&name));
            fs::create_dir(&group.0).ok()?;
            let limited = fs::write(group.0.join(file), limit.to_string());
            limited.is_ok().then_some(group)
        })
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
