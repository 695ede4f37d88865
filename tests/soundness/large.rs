//! A state space large enough for everything that only large ones need: tables that grow
//! many times, remembered successors, several threads at work. Spin counts as many states
//! and transitions of the same program (`make bench-peers`).

use fencesmith::lower::compile;
use fencesmith::source::Source;
use fencesmith::space::{End, Monitor};
use fencesmith::verify::{Abstraction, Model, Options, verify};

#[test]
fn filter_lock_has_as_many_states_as_spin_counts() {
    let text = include_str!("../../benches/peers/filter3.fen").to_string();
    let program = compile(&Source::new("filter3.fen", text)).expect("the program is right");
    let program = program.fenced(&Default::default());
    for threads in [1, 2] {
        let options = Options {
            fuse: false,
            full: true,
            threads,
            ..Options::new(Model::Pso, Abstraction::Exact { bound: 1 })
        };
        let found = verify(&program, &options, &Monitor::default()).exploration;
        assert_eq!(found.end, End::Exhausted);
        assert_eq!((found.states, found.transitions), (7_840_850, 45_826_362));
        assert!(found.reached_final && found.no_room && found.violation.is_none());
    }
}
