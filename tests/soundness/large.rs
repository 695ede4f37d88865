//! A state space large enough for everything that only large ones need: tables that grow
//! many times, remembered successors, several threads at work. Spin counts as many states
//! and transitions of the same program (`make bench-peers`).

use fencesmith::limits::Monitor;
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Model, Semantics};
use fencesmith::source::Source;
use fencesmith::verify::{Inconclusive, SearchKind, Verdict, VerifyOptions, verify};

#[test]
fn filter_lock_has_as_many_states_as_spin_counts() {
    let text = include_str!("../../benches/peers/filter3.fen").to_string();
    let program = compile(&Source::new("filter3.fen", text)).expect("the program is right");
    let program = program.fenced(&Default::default());
    for (search, threads) in [
        (SearchKind::Plain, 1),
        (SearchKind::Plain, 2),
        (SearchKind::Rows, 1),
        (SearchKind::Rows, 2),
    ] {
        let options = VerifyOptions {
            full: true,
            search,
            threads,
            ..VerifyOptions::under(Semantics {
                fuse: false,
                ..Semantics::new(Model::Pso, Abstraction::Exact { bound: 1 })
            })
        };
        let answer = verify(&program, &options, &Monitor::default());
        let found = answer.statistics;
        assert_eq!(answer.search, search);
        assert_eq!((found.states, found.transitions), (7_840_850, 45_826_362));
        // All states were found, none is wrong, and some store had to wait.
        assert!(
            answer
                .coverage
                .is_some_and(|coverage| coverage.reached_final)
        );
        assert_eq!(
            answer.verdict,
            Verdict::Inconclusive(Inconclusive::Bound(1))
        );
    }
}
