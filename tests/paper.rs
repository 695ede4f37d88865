//! The verdicts of Table 1 and figure 6 of Kuperstein, Vechev and Yahav (PLDI 2011).

mod programs;

use fencesmith::verify::{Abstraction, Model, Options, Outcome, Reason};

/// Whether FD verifies a program of the paper under PSO; its counterexamples are spurious.
fn verified(name: &str, k: usize, fuse: bool) -> bool {
    let source = programs::source(&format!("paper/{name}"));
    let program = programs::program(&source).fenced(&Default::default());
    let options = Options {
        abstraction: Abstraction::Fd { k },
        fuse,
        ..programs::exact(Model::Pso, 1)
    };
    match programs::answer(&program, &options).outcome {
        Outcome::Correct => true,
        Outcome::Inconclusive(Reason::Spurious) => false,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn without_a_head_exactly_fast3_clh2_and_figure_6_fail() {
    let too_coarse = ["fast3", "clh2", "fig6"];
    for name in ["sense1", "pet2", "dek2", "lam2", "fast3", "clh2", "fig6"] {
        for fuse in [false, true] {
            let expected = !too_coarse.contains(&name);
            assert_eq!(verified(name, 0, fuse), expected, "{name}, fused: {fuse}");
        }
    }
}

#[test]
fn one_store_in_order_is_enough() {
    for name in ["sense1", "pet2", "dek2", "lam2", "fast3", "clh2", "fig6"] {
        for fuse in [false, true] {
            assert!(verified(name, 1, fuse), "{name}, fused: {fuse}");
        }
    }
}
