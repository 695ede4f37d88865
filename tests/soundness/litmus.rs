//! The shapes of the literature: which outcomes each memory model allows.

use fencesmith::verify::Verdict;
use fencesmith_testing::programs;
use fencesmith_testing::programs::{MODELS, answer, exact, program, source};

/// Whether SC, TSO and PSO allow the outcome that the program forbids: `A` or `F`.
const TABLE: &[(&str, &str)] = &[
    ("sb", "F A A"),
    ("sb+fence", "F A A"),
    ("sb+fences", "F F F"),
    ("sb+rfi-pos", "F A A"),
    ("mp", "F F A"),
    ("lb", "F F F"),
    ("r", "F A A"),
    ("s", "F F A"),
    ("2+2w", "F F A"),
    ("iriw", "F F F"),
    ("corr", "F F F"),
];

/// The verdicts of all models, in one line. Straight-line programs need buffers no longer
/// than their stores, so every answer is a proof or a violation.
fn verdicts(name: &str, fuse: bool) -> String {
    let program = program(&source(&format!("litmus/{name}")));
    let verdict = |model| {
        let mut options = exact(model, 4);
        options.semantics.fuse = fuse;
        match answer(&program.fenced(&Default::default()), &options).verdict {
            Verdict::Correct => "F",
            Verdict::Violated => "A",
            other => panic!("{name} under {model}: {other:?}"),
        }
    };
    MODELS.map(verdict).join(" ")
}

#[test]
fn the_models_allow_what_the_literature_says() {
    for (name, expected) in TABLE {
        for fuse in [true, false] {
            assert_eq!(verdicts(name, fuse), *expected, "{name}, fuse {fuse}");
        }
    }
}

#[test]
fn every_shape_is_decided() {
    for name in programs::names(&["litmus"]) {
        verdicts(name.trim_start_matches("litmus/"), true);
    }
}
