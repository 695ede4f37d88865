//! Searches with states on disk: the same states, transitions, depth, coverage and traces as in
//! memory, and no verdict where the disk fails.

use crate::workers::{agree, compare_random, larger, summary, wide};
use fencesmith::limits::{Limits, Monitor, StopReason};
use fencesmith::memory::{Abstraction, Model, Semantics};
use fencesmith::space::spill::{Scratch, ScratchFile, Spilling};
use fencesmith::space::{End, Exploration, Explorer, Goal, Search, Standstill, explore};
use fencesmith_testing::programs;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// Nothing can be done any more.
    Refuses,
    /// A bit of what is read is another.
    Changes,
}

/// A disk in memory that goes wrong at some operation.
#[derive(Debug, Default)]
struct Disk {
    operations: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
    flaw: Option<(u64, Flaw)>,
    failures: Mutex<Vec<String>>,
}

struct DiskFile {
    bytes: Mutex<Vec<u8>>,
    operations: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
    flaw: Option<(u64, Flaw)>,
}

fn operate(operations: &AtomicU64, flaw: Option<(u64, Flaw)>) -> io::Result<bool> {
    let operation = operations.fetch_add(1, Ordering::Relaxed);
    match flaw {
        Some((at, Flaw::Refuses)) if operation >= at => Err(io::ErrorKind::StorageFull.into()),
        Some((at, Flaw::Changes)) => Ok(operation == at),
        _ => Ok(false),
    }
}

impl Scratch for Disk {
    fn file(&self) -> io::Result<Box<dyn ScratchFile>> {
        operate(&self.operations, self.flaw)?;
        Ok(Box::new(DiskFile {
            bytes: Mutex::default(),
            operations: self.operations.clone(),
            written: self.written.clone(),
            flaw: self.flaw,
        }))
    }

    fn fail(&self, error: &io::Error) {
        let mut failures = self.failures.lock().expect("no thread panics");
        failures.push(error.to_string());
    }
}

impl ScratchFile for DiskFile {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        operate(&self.operations, self.flaw)?;
        self.written
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut all = self.bytes.lock().expect("no thread panics");
        all.extend_from_slice(bytes);
        Ok(())
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let changes = operate(&self.operations, self.flaw)?;
        let all = self.bytes.lock().expect("no thread panics");
        let from = offset as usize;
        let wanted = all.get(from..from + bytes.len());
        bytes.copy_from_slice(wanted.ok_or(io::ErrorKind::UnexpectedEof)?);
        if changes {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
        }
        Ok(())
    }
}

/// Searches on a disk, with buffers that hold so many states.
fn on_disk(search: &Search, threads: usize, most_held: usize) -> Exploration {
    let disk = Arc::new(Disk::default());
    let spilling = Spilling {
        scratch: disk.clone(),
        most_held: Some(most_held),
    };
    let found = spilling.explore(&Search { threads, ..*search });
    let failures = disk.failures.lock().expect("no thread panics");
    assert!(failures.is_empty(), "{failures:?}");
    let written = disk.written.load(Ordering::Relaxed);
    assert!(written >= 8 * found.statistics.states, "{written}");
    found
}

#[test]
fn random_programs() {
    let states = compare_random(120, |search, seed| {
        let most_held = [3, 17, 64, 1, 500][seed as usize % 5];
        on_disk(search, 1 + seed as usize % 3, most_held)
    });
    assert!(states > 15_000, "the programs have states: {states}");
}

#[test]
fn numbers_outgrow_their_fields() {
    let (program, model) = wide();
    agree("wide.fen", &program, model, 50_000, |search| {
        on_disk(search, 1, 4000)
    });
}

#[test]
fn a_larger_program() {
    let (program, model) = larger();
    agree("burns-3", &program, model, 200_000, |search| {
        on_disk(search, 2, 2000)
    });
}

/// A program with a violation, and what is asked about it.
fn ask<T>(limits: &Limits, monitor: &Monitor, goal: Goal, answer: impl Fn(&Search) -> T) -> T {
    ask_of("mutex/peterson", limits, monitor, goal, answer)
}

fn ask_of<T>(
    name: &str,
    limits: &Limits,
    monitor: &Monitor,
    goal: Goal,
    answer: impl Fn(&Search) -> T,
) -> T {
    let program = programs::program(&programs::source(name));
    let program = program.fenced(&Default::default());
    let stepper = Semantics::new(Model::Pso, Abstraction::Fd { k: 1 }).stepper(&program);
    answer(&Search {
        stepper: &stepper,
        goal,
        standstill: Standstill::Ignored,
        limits,
        monitor,
        threads: 1,
    })
}

/// At whichever operation the disk fails, there is no verdict; nor where it gives back what was
/// not written.
#[test]
fn disks_that_fail() {
    let (limits, monitor) = (Limits::default(), Monitor::default());
    for (name, goal, most_held) in [
        ("litmus/sb", Goal::AllStates, 3),
        ("mutex/peterson", Goal::FirstViolation, 100),
    ] {
        let with = |flaw| {
            let disk = Arc::new(Disk {
                flaw,
                ..Disk::default()
            });
            let spilling = Spilling {
                scratch: disk.clone(),
                most_held: Some(most_held),
            };
            let explore = |it: &Search| spilling.explore(it);
            (ask_of(name, &limits, &monitor, goal, explore), disk)
        };
        let (expected, disk) = with(None);
        let operations = disk.operations.load(Ordering::Relaxed);
        assert!(operations > 80, "{operations}");
        let mut noticed = 0;
        for at in 0..operations {
            let (found, disk) = with(Some((at, Flaw::Refuses)));
            assert_eq!(found.end, End::Limit(StopReason::Disk), "operation {at}");
            assert!(!disk.failures.lock().expect("no thread panics").is_empty());
            // An operation that reads nothing changes nothing.
            let (found, disk) = with(Some((at, Flaw::Changes)));
            match disk.failures.lock().expect("no thread panics").is_empty() {
                true => assert_eq!(summary(&found), summary(&expected)),
                false => {
                    assert_eq!(found.end, End::Limit(StopReason::Disk), "operation {at}");
                    noticed += 1;
                }
            }
        }
        assert!(noticed > 20, "{noticed} of {operations}");
    }
}

/// A violation that was found before a limit ended its level is shown, with an execution that is as
/// short as any.
#[test]
fn violations_of_an_unfinished_level() {
    let monitor = Monitor::default();
    let within = |max_memory| {
        let limits = Limits {
            max_memory,
            ..Limits::default()
        };
        ask(&limits, &monitor, Goal::FirstViolation, |it| {
            on_disk(it, 1, 100)
        })
    };
    let steps = |found: &Exploration| {
        let (violation, trace) = found.violation.as_ref()?;
        let trace = trace.as_ref().expect("there is memory for the trace");
        Some((format!("{violation:?}"), trace.steps.len()))
    };
    let expected = within(None);
    assert_eq!(expected.end, End::FirstViolation);
    let depth = expected.statistics.depth.expect("it goes by levels");
    let (mut without, mut shown) = (0, 0);
    for most in (0..expected.statistics.bytes).step_by(200) {
        let found = within(Some(most));
        if found.end == End::FirstViolation {
            break;
        }
        assert_eq!(found.end, End::Limit(StopReason::MaxMemory));
        match found.violation {
            None => without += 1,
            Some(_) => {
                assert_eq!(steps(&found), steps(&expected));
                assert_eq!(found.statistics.depth, Some(depth - 1));
                shown += 1;
            }
        }
    }
    assert!(without > 0 && shown > 0, "{without}, {shown}");
}

#[test]
fn limits_end_it() {
    let reason = |limits: Limits, monitor: &Monitor| {
        let found = ask(&limits, monitor, Goal::AllStates, |it| on_disk(it, 1, 100));
        match found.end {
            End::Limit(reason) => (reason, found.statistics.states),
            end => panic!("it ended with {end:?}"),
        }
    };
    let free = Monitor::default();
    let states = Limits {
        max_states: Some(300),
        ..Limits::default()
    };
    assert_eq!(reason(states, &free), (StopReason::MaxStates, 300));
    let memory = Limits {
        max_memory: Some(10_000),
        ..Limits::default()
    };
    assert_eq!(reason(memory, &free).0, StopReason::MaxMemory);
    let time = Limits {
        deadline: Some(Instant::now()),
        ..Limits::default()
    };
    assert_eq!(reason(time, &free).0, StopReason::Timeout);
    let interrupted = Monitor::default();
    interrupted.interrupt();
    let (reason, _) = reason(Limits::default(), &interrupted);
    assert_eq!(reason, StopReason::Interrupted);
}

/// Memory is enough: nothing goes to disk.
#[test]
fn what_fits_stays_in_memory() {
    let disk = Arc::new(Disk::default());
    let spilling = Spilling {
        scratch: disk.clone(),
        most_held: None,
    };
    let (limits, monitor) = (Limits::default(), Monitor::default());
    let found = ask(&limits, &monitor, Goal::AllStates, |it| {
        spilling.explore(it)
    });
    let expected = ask(&limits, &monitor, Goal::AllStates, explore);
    assert_eq!(summary(&found), summary(&expected));
    assert_eq!(disk.operations.load(Ordering::Relaxed), 0);
}

/// What people type.
#[cfg(unix)]
mod typed {
    use crate::run::{Ended, end, run, signal, start};
    use serde_json::Value as Json;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    fn arguments<'a>(program: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let options = ["--model", "pso", "--abs", "exact", "--bound", "2"];
        let search = ["--search", "plain", "--full", "--format", "json"];
        [&["verify", program], &options[..], &search, more].concat()
    }

    /// The answer without what differs from run to run.
    fn answer(ended: &Ended) -> Json {
        let mut answers: Json = serde_json::from_str(&ended.out).expect("JSON");
        let answer = answers[0].as_object_mut().expect("an answer");
        answer.remove("timing");
        answer["stats"]
            .as_object_mut()
            .expect("statistics")
            .remove("bytes_per_state");
        answers
    }

    fn is_empty(folder: &Path) -> bool {
        folder.read_dir().expect("a folder").next().is_none()
    }

    #[test]
    fn the_answer_is_that_in_memory() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = folder.path().join("new").display().to_string();
        let program = "algorithms/mutex/burns-3.fen";
        let little = ["--max-memory", "4M"];
        let states = |ended: &Ended| answer(ended)[0]["stats"]["states"].as_u64();
        let without = run(&arguments(program, &little));
        let spilled = run(&arguments(
            program,
            &[&little[..], &["--spill", &name]].concat(),
        ));
        let expected = run(&arguments(program, &[]));
        assert_eq!((spilled.code, expected.code), (Some(1), Some(1)));
        assert_eq!(answer(&spilled), answer(&expected));
        assert!(states(&without) < states(&expected));
        assert!(is_empty(Path::new(&name)));
    }

    /// Many stores, which nobody loads, or each process one of the next: few states under SC, and
    /// more than memory holds with queues.
    #[test]
    fn robustness() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = folder.path().join("states").display().to_string();
        let program = folder.path().join("stores.fen").display().to_string();
        let verify = |more: &[&str]| {
            let options = ["--abs", "exact", "--bound", "1", "--format", "json"];
            let robust = ["verify", &program, "--robust", "--model", "pso"];
            run(&[&robust[..], &options, more].concat())
        };
        for (loads, code) in [(false, Some(0)), (true, Some(1))] {
            let stores = |process| {
                let stores = ["a", "b", "c", "d", "e"].map(|v| format!("store {v}{process} = 1;"));
                let load = match loads {
                    true => format!("bool r; load r = a{};", (process + 1) % 3),
                    false => String::new(),
                };
                format!("process p{process} {{ {} {load} }}\n", stores.concat())
            };
            let places = [0, 1, 2].map(|p| format!("a{p}, b{p}, c{p}, d{p}, e{p}"));
            let text = [0, 1, 2].map(stores).concat();
            let text = format!("shared bool {};\n{text}", places.join(", "));
            std::fs::write(&program, text).expect("a file");
            let expected = verify(&[]);
            let little = ["--max-memory", "4M"];
            let without = verify(&little);
            let spilled = verify(&[&little[..], &["--spill", &name]].concat());
            assert_eq!(without.code, Some(3), "{without:?}");
            assert_eq!((spilled.code, expected.code), (code, code), "{spilled:?}");
            assert_eq!(answer(&spilled), answer(&expected));
            assert!(is_empty(Path::new(&name)));
        }
    }

    /// Whatever ends the program, no files are left.
    #[test]
    fn signals() {
        for which in ["-INT", "-KILL"] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let name = folder.path().display().to_string();
            let options = ["--max-memory", "6M", "--spill", &name];
            let child = start(&arguments("algorithms/mutex/bakery-3.fen", &options));
            std::thread::sleep(Duration::from_millis(1500));
            signal(child.id(), which);
            let ended = end(child);
            if which == "-INT" {
                assert_eq!(ended.code, Some(3), "{ended:?}");
                assert_eq!(answer(&ended)[0]["outcome"], "inconclusive");
            }
            assert!(is_empty(folder.path()));
        }
    }

    #[test]
    fn folders_that_cannot_be_used() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let name = file.path().display().to_string();
        let ended = run(&arguments(
            "algorithms/mutex/peterson.fen",
            &["--spill", &name],
        ));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(
            ended.err.contains(&name) && ended.out.is_empty(),
            "{ended:?}"
        );
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = folder.path().display().to_string();
        for (more, words) in [
            (["--abs", "pd"], "--abs pd does not go with --spill"),
            (["--processes", "2"], "--processes"),
        ] {
            let ended = run(&[&["verify", "x.fen", "--spill", &name], &more[..]].concat());
            assert_eq!(ended.code, Some(2), "{ended:?}");
            assert!(ended.err.contains(words), "{ended:?}");
        }
    }

    /// Files that may not grow stand for a disk that is full.
    #[test]
    fn a_full_disk() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = folder.path().display().to_string();
        let options = ["--max-memory", "4M", "--spill", &name];
        let arguments = arguments("algorithms/mutex/bakery-3.fen", &options);
        let child = Command::new("sh")
            .arg("-c")
            .arg("trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"")
            .arg(env!("CARGO_BIN_EXE_fencesmith"))
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let ended = end(child.expect("there is a shell"));
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert_eq!(answer(&ended)[0]["stopped"], "disk");
        assert!(ended.err.contains("cannot keep states in"), "{ended:?}");
        assert!(is_empty(folder.path()));
    }
}
