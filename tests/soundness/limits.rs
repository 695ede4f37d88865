//! Searches that do not visit all states: a limit ends them, or what they look for is found.

use fencesmith::limits::{Limits, Monitor, StopReason};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Model};
use fencesmith::property::Violation;
use fencesmith::source::Source;
use fencesmith::space::Standstill;
use fencesmith::verify::{Answer, Verdict, VerifyOptions, verify};
use fencesmith_testing::programs;
use std::time::{Duration, Instant};

const ABSTRACTIONS: [Abstraction; 2] = [Abstraction::Fd { k: 1 }, Abstraction::Pd { k: 1 }];

/// Searches notice within a second that they have to end; the rest is for busy machines.
const SOON: Duration = Duration::from_secs(5);

fn check(text: &str, options: &VerifyOptions) -> Answer {
    let program = compile(&Source::new("test.fen", text)).expect("the program is right");
    let program = program.fenced(&Default::default());
    verify(&program, options, &Monitor::default())
}

fn at_most(abstraction: Abstraction, states: u64) -> VerifyOptions {
    VerifyOptions {
        limits: Limits {
            max_states: Some(states),
            ..Limits::default()
        },
        ..VerifyOptions::new(Model::Pso, abstraction)
    }
}

#[test]
fn a_search_that_is_cut_short_has_counted_transitions() {
    let source = programs::source("paper/dek0");
    for abstraction in ABSTRACTIONS {
        let full = |states| VerifyOptions {
            full: true,
            ..at_most(abstraction, states)
        };
        let whole = check(source.text(), &full(u64::MAX)).statistics;
        let mut before = 0;
        for part in [8, 4, 2] {
            let answer = check(source.text(), &full(whole.states / part));
            let found = answer.statistics;
            assert_eq!(answer.stopped, Some(StopReason::MaxStates));
            assert!(before < found.transitions, "{abstraction}: {found:?}");
            assert!(
                found.transitions < whole.transitions,
                "{abstraction}: {found:?} of {whole:?}"
            );
            before = found.transitions;
        }
    }
}

/// What can start wrong, and does so in a space that has no end.
#[test]
fn a_violation_in_an_initial_state_ends_the_search() {
    let endless = "while (true) { r = r + 1; store x = r; }";
    let program = |start: &str, property: &str| {
        format!("shared int x, y; process p {{ int r; {start} {endless} }} {property}")
    };
    let property = program("", "forbid y == 0;");
    let deadlock = program("int[0..=1] a = *; assume (a == 0);", "");
    for abstraction in ABSTRACTIONS {
        for (text, deadlock) in [(&property, false), (&deadlock, true)] {
            let answer = check(
                text,
                &VerifyOptions {
                    standstill: match deadlock {
                        true => Standstill::Deadlock,
                        false => Standstill::Ignored,
                    },
                    ..at_most(abstraction, 100_000)
                },
            );
            assert_eq!(answer.verdict, Verdict::Violated, "{abstraction}: {text}");
            assert_eq!(answer.stopped, None, "{abstraction}: {text}");
            assert!(answer.statistics.states <= 3, "{:?}", answer.statistics);
            let (violation, trace) = answer.into_trace().expect("a violation has a trace");
            assert_eq!(violation == Violation::Deadlock, deadlock);
            assert!(trace.steps.is_empty());
        }
    }
}

/// Programs of which a single state, or what comes before the first, takes very long.
fn large_steps() -> Vec<String> {
    let process = |body: &str| format!("shared int x; process p {{ {body} }} forbid x == 9;");
    let numbers = |count: usize, text: &str| -> String {
        let numbers = (0..count).map(|number| text.replace('#', &number.to_string()));
        numbers.collect()
    };
    vec![
        process(
            "int[0..=999] a, b, c;
             atomic { havoc a in 0..=999; havoc b in 0..=999; havoc c in 0..=999; }
             store x = a;",
        ),
        process(&format!(
            "{} {} {}",
            numbers(30, "bool b#; "),
            numbers(30, "either { b# = true; } or { b# = false; } "),
            numbers(30, "if (b#) store x = 1; ")
        )),
        process(
            "int[0..=65535] a, b;
             havoc a in 0..=65535; havoc b in 0..=65535;
             store x = a % 3; store x = b % 5;",
        ),
        format!(
            "shared int x; process p[i in 0..=63] {{ int[0..=65535] a = *; {} store x = a; }}",
            numbers(900, "int[0..=0] c#; ")
        ),
    ]
}

#[test]
fn time_is_up_wherever_a_search_is() {
    for text in large_steps() {
        for abstraction in [
            Abstraction::Exact { bound: 2 },
            ABSTRACTIONS[0],
            ABSTRACTIONS[1],
        ] {
            let begin = Instant::now();
            let options = VerifyOptions {
                limits: Limits {
                    max_memory: Some(4 << 30),
                    deadline: Some(begin + Duration::from_millis(200)),
                    ..Limits::default()
                },
                ..VerifyOptions::new(Model::Pso, abstraction)
            };
            let answer = check(&text, &options);
            let took = begin.elapsed();
            let say = || format!("{took:?} under {abstraction}: {text:.300}");
            assert_eq!(answer.stopped, Some(StopReason::Timeout), "{}", say());
            assert!(took < SOON, "{}", say());
        }
    }
}

#[test]
fn memory_is_used_up_by_one_state() {
    let texts = large_steps();
    for text in [&texts[0], &texts[1], &texts[3]] {
        let options = VerifyOptions {
            limits: Limits {
                max_memory: Some(20 << 20),
                ..Limits::default()
            },
            ..VerifyOptions::new(Model::Pso, ABSTRACTIONS[1])
        };
        let answer = check(text, &options);
        assert_eq!(answer.stopped, Some(StopReason::MaxMemory), "{text:.300}");
    }
}

#[test]
fn an_interrupt_is_noticed_wherever_a_search_is() {
    for text in large_steps() {
        let program = compile(&Source::new("test.fen", text)).expect("the program is right");
        let program = program.fenced(&Default::default());
        let options = VerifyOptions::new(Model::Pso, ABSTRACTIONS[1]);
        let monitor = Monitor::default();
        let begin = Instant::now();
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                monitor.interrupt();
            });
            verify(&program, &options, &monitor)
        });
        assert_eq!(answer.stopped, Some(StopReason::Interrupted));
        assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    }
}
