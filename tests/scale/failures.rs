//! Limits, signals and lost processes: what is known, exit code 3, and never a verdict.

use crate::run::{Ended, children, end, run, signal, start};
use std::time::Duration;

/// A search that takes minutes.
const LONG: [&str; 8] = [
    "verify",
    "algorithms/mutex/bakery-3.fen",
    "--model",
    "pso",
    "--search",
    "plain",
    "--processes",
    "3",
];

fn long(more: &[&str]) -> Vec<&'static str> {
    let more: Vec<&'static str> = more.iter().map(|word| &*word.to_string().leak()).collect();
    [&LONG[..], &["--threads", "1", "--full"], &more].concat()
}

fn is_inconclusive(ended: &Ended, why: &str) {
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let first = ended.out.lines().next().unwrap_or_default();
    assert!(
        first.contains("inconclusive") && first.contains(why),
        "{ended:?}"
    );
}

#[test]
fn limits() {
    is_inconclusive(&run(&long(&["--max-states", "50000"])), "limit on states");
    is_inconclusive(&run(&long(&["--max-memory", "8M"])), "limit on memory");
    is_inconclusive(&run(&long(&["--timeout", "0.3"])), "time limit");
}

/// An interrupt of any process ends all of them.
#[test]
fn interrupts() {
    for which in 0..2 {
        let run = start(&long(&[]));
        let others = children(&run, 2);
        std::thread::sleep(Duration::from_millis(600));
        signal([run.id(), others[0]][which], "-INT");
        is_inconclusive(&end(run), "interrupted");
    }
}

/// A process that is killed ends the run, at whatever moment, and is named.
#[test]
fn a_killed_process() {
    for (which, moment) in [(0, 0), (1, 40), (0, 300), (1, 900)] {
        let run = start(&long(&[]));
        let others = children(&run, 2);
        std::thread::sleep(Duration::from_millis(moment));
        signal(others[which], "-KILL");
        let ended = end(run);
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert!(!ended.out.contains("correct (proved"), "{ended:?}");
        let named = ended.err.contains("process 1 (127.0.0.1:")
            || ended.err.contains("process 2 (127.0.0.1:");
        assert!(named, "{ended:?}");
    }
}

/// Processes whose leader is killed end by themselves.
#[test]
fn a_killed_leader() {
    let run = start(&long(&[]));
    let others = children(&run, 2);
    std::thread::sleep(Duration::from_millis(300));
    signal(run.id(), "-KILL");
    assert_eq!(end(run).code, None);
    let alive = |id: &u32| std::path::Path::new(&format!("/proc/{id}/exe")).exists();
    for _ in 0..500 {
        if !others.iter().any(alive) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the others are still there");
}
