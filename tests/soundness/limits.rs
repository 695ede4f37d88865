//! Searches that do not visit all states: a limit ends them, or what they look for is found.

use fencesmith::limits::{Limits, Monitor, StopReason};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Model};
use fencesmith::property::Violation;
use fencesmith::source::Source;
use fencesmith::verify::{Answer, Verdict, VerifyOptions, verify};
use fencesmith_testing::programs;

const ABSTRACTIONS: [Abstraction; 2] = [Abstraction::Fd { k: 1 }, Abstraction::Pd { k: 1 }];

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
                    deadlock,
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
