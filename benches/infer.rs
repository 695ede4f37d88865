//! Labelling speed, and the lazy engine beside the eager one on the whole suite, as ratios
//! within one run: `make bench`.

use fencesmith::infer::{
    self, AllowedGaps, Conclusion, EngineKind, InferOptions, Inference, OrderingRules, Paths,
    PdPrevent,
};
use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Model};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::verify::VerifyOptions;
use fencesmith::words::grouped;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Spaces of some hundred thousand states and more, which are labelled as a whole.
const LABELLED: [(&str, usize); 3] = [("dek0", 1), ("pet0", 2), ("fast1c", 1)];

/// What the eager engine may take for one program, end to end.
const SECONDS: u64 = 20;
const MEMORY: u64 = 4 << 30;

const ORDERING: OrderingRules = OrderingRules {
    paths: Paths::Acyclic,
    pd_prevent: PdPrevent::Mix,
};

fn main() {
    // Cargo passes `--bench`.
    let quick = std::env::args().any(|argument| argument == "--quick");
    labelling(quick);
    end_to_end(quick);
}

fn labelling(quick: bool) {
    println!("labelling whole spaces under PSO, fences behind stores\n");
    println!(
        "{:<22} {:>11} {:>12} {:>9} {:>9} {:>12}",
        "space", "states", "updates", "formulas", "seconds", "ns/update"
    );
    for (name, k) in LABELLED.into_iter().take(if quick { 1 } else { 3 }) {
        let program = program(
            &root()
                .join("algorithms/paper")
                .join(name)
                .with_extension("fen"),
        );
        for engine in [EngineKind::Points, EngineKind::Ordering] {
            let place = AllowedGaps::AfterStore;
            let options = InferOptions {
                whole: true,
                ..options(&program, Model::Pso, Abstraction::Fd { k }, engine, place)
            };
            let found = infer::infer(&program, &options, &Monitor::default());
            let Some(labelling) = found.labelling else {
                println!("{name} FD{k} {engine}: {:?}", found.conclusion);
                continue;
            };
            let seconds = labelling.time.as_secs_f64();
            println!(
                "{:<22} {:>11} {:>12} {:>9} {:>9.2} {:>12.0}",
                format!("{name} FD{k} {engine}"),
                grouped(labelling.states),
                grouped(labelling.updates),
                labelling.formulas,
                seconds,
                seconds * 1e9 / labelling.updates as f64
            );
        }
    }
}

/// The lazy engine and the one over fence points under FD1, on every program of the suite but
/// those with integers, which only the first can do.
fn end_to_end(quick: bool) {
    let mut files = Vec::new();
    collect(&root().join("algorithms"), &mut files);
    let integers = root().join("algorithms/integers");
    files.retain(|path: &PathBuf| !path.starts_with(&integers));
    files.sort();
    let every = if quick { 8 } else { 1 };
    let (mut both, mut lazy_only) = (0, 0);
    let (mut lazy_time, mut eager_time) = (Duration::ZERO, Duration::ZERO);
    let (mut lazy_peak, mut eager_peak) = (0, 0);
    println!("\nend to end under FD(k=1), fences anywhere: seconds and states at the peak\n");
    println!(
        "{:<28} {:<5} {:>9} {:>12} {:>9} {:>12} {:>9}",
        "program", "model", "lazy", "states", "points", "states", "ratio"
    );
    for path in files.iter().step_by(every) {
        let program = program(path);
        for model in [Model::Tso, Model::Pso] {
            let timed = |engine| {
                let begin = Instant::now();
                let abstraction = Abstraction::Fd { k: 1 };
                let place = AllowedGaps::Anywhere;
                let options = options(&program, model, abstraction, engine, place);
                let found = infer::infer(&program, &options, &Monitor::default());
                (found, begin.elapsed())
            };
            let ((lazy, lazy_took), (eager, eager_took)) =
                (timed(EngineKind::Lazy), timed(EngineKind::Points));
            if lazy.rounds <= 1 || stopped(&lazy) {
                continue;
            }
            let name = path.strip_prefix(root().join("algorithms")).unwrap_or(path);
            let ratio = match stopped(&eager) {
                true => "stopped".to_string(),
                false => format!("{:.1}", eager_took.as_secs_f64() / lazy_took.as_secs_f64()),
            };
            if eager.peak > 100_000 {
                println!(
                    "{:<28} {:<5} {:>9.3} {:>12} {:>9.3} {:>12} {:>9}",
                    name.display(),
                    model.to_string(),
                    lazy_took.as_secs_f64(),
                    grouped(lazy.peak),
                    eager_took.as_secs_f64(),
                    grouped(eager.peak),
                    ratio
                );
            }
            if stopped(&eager) {
                lazy_only += 1;
                continue;
            }
            assert_eq!(cost(&lazy), cost(&eager), "{} {model}", path.display());
            both += 1;
            lazy_time += lazy_took;
            eager_time += eager_took;
            lazy_peak += lazy.peak;
            eager_peak += eager.peak;
        }
    }
    println!(
        "\n{both} answers by both engines, with the same cost: the eager one takes {:.1} times \
         as long and {:.1} times as many states; {lazy_only} more by the lazy engine alone \
         (limits: {SECONDS} s, {} GiB)",
        eager_time.as_secs_f64() / lazy_time.as_secs_f64(),
        eager_peak as f64 / lazy_peak as f64,
        MEMORY >> 30
    );
}

fn options(
    program: &Program,
    model: Model,
    abstraction: Abstraction,
    engine: EngineKind,
    place: AllowedGaps,
) -> InferOptions {
    let allowed = infer::allowed(program, place).into_iter();
    InferOptions {
        engine,
        ordering: ORDERING,
        ..InferOptions::new(
            VerifyOptions {
                threads: std::thread::available_parallelism().map_or(1, usize::from),
                limits: Limits {
                    max_states: None,
                    max_memory: Some(MEMORY),
                    deadline: Some(Instant::now() + Duration::from_secs(SECONDS)),
                },
                ..VerifyOptions::new(model, abstraction)
            },
            allowed.map(|allowed| allowed.then_some(1)).collect(),
        )
    }
}

/// The cost of the placement, if there is one.
fn cost(found: &Inference) -> Option<u64> {
    match &found.conclusion {
        Conclusion::Correct(none) => Some(none.cost),
        Conclusion::Placed(placed) => Some(placed.best.cost),
        _ => None,
    }
}

fn stopped(found: &Inference) -> bool {
    matches!(
        found.conclusion,
        Conclusion::Inconclusive(infer::Obstacle::Limit(_))
    )
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn program(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).expect("the program can be read");
    compile(&Source::new(path.display().to_string(), text)).expect("the suite compiles")
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder)
        .expect("the suite is there")
        .flatten()
    {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|end| end == "fen") {
            out.push(path);
        }
    }
}
