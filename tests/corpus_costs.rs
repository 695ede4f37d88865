//! The cheapest placements of the algorithms against what is known about them.

use fencesmith::infer::hitting::Costs;
use fencesmith::infer::{self, Inference, Optimality, Outcome, Where, lazy};
use fencesmith::lang::ast::FenceKind;
use fencesmith::lang::printer::print_with_fences;
use fencesmith::lower::compile;
use fencesmith::memory::Atomics;
use fencesmith::program::{PointSet, Program};
use fencesmith::source::Source;
use fencesmith::space::{Limits, Monitor};
use fencesmith::verify::{self, Abstraction, Model, verify};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Too large for a test: `make tables` has them.
const HEAVY: [(&str, &str); 5] = [
    ("mutex/bakery-3", "2.4 million states in a round"),
    ("mutex/filter-3", "36 million states in a round"),
    ("mutex/lamport-fast-3", "1.1 million states in a round"),
    (
        "protocol/task-scheduling",
        "beyond any head too; 12 million states at the largest",
    ),
    ("queue/the", "130 rounds, half a million states in one"),
];

/// Programs that are correct because of the order of unboundedly many stores, of which
/// every abstraction keeps the first few only: the model, and the cost of the placement
/// that can be proved.
const BEYOND_ANY_HEAD: [(&str, Model, u64); 5] = [
    ("protocol/alternating-bit", Model::Tso, 2),
    ("protocol/alternating-bit", Model::Pso, 2),
    ("protocol/increasing-sequence", Model::Tso, 1),
    ("protocol/increasing-sequence", Model::Pso, 1),
    ("protocol/producer-consumer-2", Model::Tso, 1),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("algorithms")
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|end| end == "fen") {
            out.push(path);
        }
    }
}

/// An algorithm, named by its path without the ending.
fn algorithm(name: &str) -> (Source, Program) {
    let path = root().join(format!("{name}.fen"));
    let text = std::fs::read_to_string(path).expect("it can be read");
    let source = Source::new(name, text);
    let program = compile(&source).expect("the suite compiles");
    (source, program)
}

/// What the header says about a model: `// WORD MODEL: TEXT`.
fn header<'a>(source: &'a Source, word: &str, model: Model) -> Option<&'a str> {
    let start = format!("// {word} {model}: ");
    let mut lines = source.text().lines();
    lines.find_map(|line| line.strip_prefix(&start))
}

fn known_cost(source: &Source, model: Model) -> Option<u64> {
    let text = header(source, "known", model)?.strip_prefix("cost ")?;
    let number = text.split(' ').next()?;
    Some(number.parse().expect("a cost is a number"))
}

fn options(model: Model, abstraction: Abstraction, atomics: Atomics) -> verify::Options {
    verify::Options {
        model,
        abstraction,
        atomics,
        fuse: true,
        reset_dead: true,
        full: false,
        deadlock: false,
        threads: 1,
        limits: Limits::default(),
    }
}

fn infer(program: &Program, model: Model, atomics: Atomics, place: Where) -> Inference {
    let allowed = infer::allowed(program, place).into_iter();
    let costs: Costs = allowed.map(|allowed| allowed.then_some(1)).collect();
    let options = infer::Options {
        verify: options(model, Abstraction::Fd { k: 1 }, atomics),
        refine: true,
        costs,
        all: (place == Where::AfterStore).then_some(100),
        why: false,
    };
    lazy(program, &options, &Monitor::default())
}

/// The program with the fences typed into its text verifies.
fn check_printed(
    source: &Source,
    program: &Program,
    fences: &PointSet,
    model: Model,
    abstraction: Abstraction,
) {
    let spots = fences
        .iter()
        .map(|point| program.points[point.index()].spots[0]);
    let spots: Vec<_> = spots.map(|spot| (spot, FenceKind::Full)).collect();
    let text = print_with_fences(source, &spots);
    let printed = Source::new(source.name(), text.clone());
    let printed = compile(&printed).unwrap_or_else(|_| panic!("does not compile:\n{text}"));
    let printed = printed.fenced(&PointSet::new());
    for model in [Model::Sc, model] {
        let options = options(model, abstraction, Atomics::DrainPlace);
        let answer = verify(&printed, &options, &Monitor::default());
        assert_eq!(answer.outcome, verify::Outcome::Correct, "{model}:\n{text}");
    }
}

fn check(name: &str, model: Model) {
    let (source, program) = algorithm(name);
    let found = infer(&program, model, Atomics::DrainPlace, Where::Anywhere);
    let shown = || format!("{name} under {model}: {:?}", found.outcome);
    let sc = header(&source, "expect", Model::Sc).expect("the header says so");
    if sc.starts_with("violated") {
        let wrong = matches!(found.outcome, Outcome::IncorrectUnderSc(..));
        assert!(wrong, "{}", shown());
        return;
    }
    let cost = known_cost(&source, model).expect("the header says so");
    let beyond = BEYOND_ANY_HEAD
        .iter()
        .find(|(file, of, _)| *file == name && *of == model);
    let (cost, optimality) = match beyond {
        Some((_, _, provable)) => (*provable, Optimality::UnderAbstraction),
        None => (cost, Optimality::Exact),
    };
    match &found.outcome {
        Outcome::Correct => assert_eq!(cost, 0, "{}", shown()),
        Outcome::Placed(placed) => {
            assert_eq!(placed.best.cost, cost, "{}", shown());
            assert_eq!(placed.optimality, optimality, "{}", shown());
            let fences = &placed.best.fences;
            check_printed(&source, &program, fences, model, found.abstraction);
        }
        _ => panic!("{}", shown()),
    }
}

#[test]
fn costs_are_as_known() {
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.strip_prefix(root()).expect("it is inside"))
        .map(|path| path.with_extension("").display().to_string())
        .collect();
    for (heavy, _) in HEAVY {
        assert!(names.iter().any(|name| name == heavy), "{heavy} is gone");
    }
    let light = names
        .par_iter()
        .filter(|name| !HEAVY.iter().any(|(heavy, _)| heavy == name));
    let checked = light.map(|name| {
        check(name, Model::Tso);
        check(name, Model::Pso);
    });
    assert!(checked.count() > 100);
}

/// Where a figure was published.
const TABLE: &str = "Abdulla, Atig, Chen, Leonardsson, Rezine 2012, table 1";
const DEKKER: &str = "Abdulla, Atig, Chen, Leonardsson, Rezine 2012, appendix A";
const FENCES: &str = "Kuperstein, Vechev, Yahav 2011, table 1";
const FIGURE: &str = "Kuperstein, Vechev, Yahav 2011, figure 2";
const FAST: &str = "Kuperstein, Vechev, Yahav 2011, section 6.3.3";
const OWN: &str = "all states of the exact model";

/// Fences over all processes: (program, model, where they may stand, total, source).
const TOTALS: [(&str, Model, Where, u64, &str); 31] = {
    use Model::{Pso, Tso};
    use Where::{AfterStore, Anywhere};
    [
        ("mutex/peterson", Pso, Anywhere, 4, FIGURE),
        ("mutex/peterson", Pso, AfterStore, 4, FIGURE),
        ("mutex/peterson", Tso, Anywhere, 2, TABLE),
        ("mutex/peterson", Tso, AfterStore, 2, TABLE),
        ("mutex/dekker-goto", Pso, Anywhere, 2, OWN),
        ("mutex/dekker-goto", Tso, Anywhere, 2, TABLE),
        ("paper/dek0", Pso, AfterStore, 4, FENCES),
        ("paper/dek0", Pso, Anywhere, 2, OWN),
        ("paper/dek0", Tso, AfterStore, 4, OWN),
        ("paper/dek0", Tso, Anywhere, 2, OWN),
        ("mutex/dekker", Pso, AfterStore, 4, OWN),
        ("mutex/dekker", Tso, AfterStore, 4, DEKKER),
        ("mutex/bakery", Pso, Anywhere, 4, FENCES),
        ("mutex/bakery", Pso, AfterStore, 4, FENCES),
        ("mutex/bakery", Tso, Anywhere, 4, TABLE),
        ("mutex/bakery", Tso, AfterStore, 4, TABLE),
        ("mutex/lamport-fast", Pso, Anywhere, 6, FAST),
        ("mutex/lamport-fast", Tso, Anywhere, 4, TABLE),
        ("lock/clh", Pso, Anywhere, 2, OWN),
        ("lock/clh", Tso, Anywhere, 0, TABLE),
        ("mutex/burns-2", Pso, Anywhere, 2, OWN),
        ("mutex/burns-2", Tso, Anywhere, 2, TABLE),
        ("mutex/dijkstra", Tso, Anywhere, 2, TABLE),
        ("mutex/simple-dekker", Pso, Anywhere, 2, OWN),
        ("mutex/simple-dekker", Tso, Anywhere, 2, TABLE),
        ("barrier/tournament", Tso, Anywhere, 0, TABLE),
        ("barrier/sense-epochs", Pso, Anywhere, 0, OWN),
        ("barrier/sense-epochs", Tso, Anywhere, 0, TABLE),
        ("barrier/sense-counter", Pso, Anywhere, 2, FENCES),
        ("barrier/sense-counter", Tso, Anywhere, 0, TABLE),
        ("lock/ticket-2", Tso, Anywhere, 0, TABLE),
    ]
};

/// The cost over all processes of the best placement, exactly optimal; and how many
/// minimal ones there are, if that was asked for.
fn total(program: &Program, found: &Inference) -> (u64, usize) {
    match &found.outcome {
        Outcome::Correct => (0, 1),
        Outcome::Placed(placed) if placed.optimality == Optimality::Exact => {
            let points = placed.best.fences.iter().map(|&point| {
                let everywhere = program.processes.iter().flat_map(|p| &p.locations);
                everywhere.filter(|at| at.point == Some(point)).count() as u64
            });
            (points.sum(), placed.all.len())
        }
        other => panic!("{other:?}"),
    }
}

/// Points that are shared by the processes of a template and points of each process give
/// the same total.
#[test]
fn totals_are_as_published() {
    TOTALS
        .par_iter()
        .for_each(|&(name, model, place, expected, source)| {
            let (_, program) = algorithm(name);
            for program in [&program, &program.per_process()] {
                let found = infer(program, model, Atomics::DrainPlace, place);
                let (total, _) = total(program, &found);
                assert_eq!(total, expected, "{name} {model} {place:?}, see {source}");
            }
        });
}

/// An atomic that drains everything is a fence.
#[test]
fn the_queue_lock_needs_no_fence_if_atomics_drain_everything() {
    for name in ["lock/clh", "lock/clh-3", "paper/clh0"] {
        let (_, program) = algorithm(name);
        let found = infer(&program, Model::Pso, Atomics::DrainAll, Where::Anywhere);
        assert!(matches!(found.outcome, Outcome::Correct), "{name}");
    }
}

/// Under TSO each process of the bakery has two ways to fence its stores, under PSO one.
#[test]
fn the_bakery_has_four_minimal_placements() {
    for (model, shared, own) in [(Model::Tso, 2, 4), (Model::Pso, 1, 1)] {
        let (_, program) = algorithm("mutex/bakery");
        for (program, expected) in [(&program, shared), (&program.per_process(), own)] {
            let found = infer(program, model, Atomics::DrainPlace, Where::AfterStore);
            assert_eq!(total(program, &found), (4, expected), "{model}");
        }
    }
}

#[test]
fn the_overwriting_producer_is_wrong_under_sc() {
    let (_, program) = algorithm("protocol/producer-consumer-1");
    for model in [Model::Tso, Model::Pso] {
        let found = infer(&program, model, Atomics::DrainPlace, Where::Anywhere);
        assert!(matches!(found.outcome, Outcome::IncorrectUnderSc(..)));
    }
}
