//! The cheapest placements of the algorithms against what their headers say.

use fencesmith::infer::hitting::Costs;
use fencesmith::infer::{self, AllowedGaps, Conclusion, EngineKind, Inference, Optimality};
use fencesmith::lang::insert_fences;
use fencesmith::limits::Monitor;
use fencesmith::memory::{Model, Semantics};
use fencesmith::program::{FenceKind, PointSet, Program};
use fencesmith::source::Source;
use fencesmith::space::Standstill;
use fencesmith::verify::{SearchKind, Verdict, VerifyOptions};
use fencesmith_testing::oracle::interpreter;
use fencesmith_testing::programs;
use fencesmith_testing::programs::header::{Answer, Problem, Question};
use rayon::prelude::*;

fn infer(program: &Program, model: Model, place: AllowedGaps) -> Inference {
    infer_by(program, VerifyOptions::refining(model), place)
}

fn infer_by(program: &Program, verify: VerifyOptions, place: AllowedGaps) -> Inference {
    let allowed = infer::allowed(program, place).into_iter();
    let costs: Costs = allowed.map(|allowed| allowed.then_some(1)).collect();
    let options = infer::InferOptions {
        all: (place == AllowedGaps::AfterStore).then_some(100),
        ..infer::InferOptions::new(verify, costs)
    };
    infer::infer(program, &options, &Monitor::default())
}

/// The program with the fences typed into its text verifies.
fn check_printed(source: &Source, program: &Program, fences: &PointSet, options: &VerifyOptions) {
    let sites = fences
        .iter()
        .map(|point| program.points[point.index()].sites[0]);
    let sites: Vec<_> = sites.map(|site| (site, FenceKind::Full)).collect();
    let text = insert_fences(source, &sites);
    let printed = Source::new(source.name(), text.clone());
    let printed = programs::program(&printed).fenced(&PointSet::new());
    for model in [Model::Sc, options.semantics.model] {
        let semantics = Semantics {
            model,
            ..options.semantics
        };
        let options = VerifyOptions {
            standstill: options.standstill,
            ..VerifyOptions::under(semantics)
        };
        let answer = programs::answer(&printed, &options);
        assert_eq!(answer.verdict, Verdict::Correct, "{model}:\n{text}");
    }
}

/// The cheapest placement against the header; what was placed verifies.
fn wrong(source: &Source, model: Model, standstill: Standstill) -> Option<Problem> {
    let program = programs::program(source);
    let options = VerifyOptions {
        standstill,
        ..VerifyOptions::refining(model)
    };
    let found = infer_by(&program, options.clone(), AllowedGaps::Anywhere);
    let answer = match &found.conclusion {
        Conclusion::Correct(_) => Some(Answer::Cost(0)),
        Conclusion::IncorrectUnderSc(..) => Some(Answer::Incorrect),
        Conclusion::Placed(placed) => {
            let fences = &placed.best.fences;
            let semantics = Semantics::new(model, found.abstraction);
            let options = VerifyOptions {
                semantics,
                ..options
            };
            check_printed(source, &program, fences, &options);
            Some(match placed.optimality {
                Optimality::Exact => Answer::Cost(placed.best.cost),
                _ => Answer::AtMost(placed.best.cost),
            })
        }
        _ => None,
    };
    let header = programs::header(source);
    let fact = header.fact(match standstill {
        Standstill::Stuck => Question::Stuck(model),
        _ => Question::Fences(model),
    });
    let say = || match answer {
        Some(answer) => format!("found {answer:?}"),
        None => format!("found {:?}", found.conclusion),
    };
    (answer != Some(fact.answer)).then(|| Problem(fact.line, say()))
}

#[test]
fn costs_are_as_expected() {
    programs::check(&programs::all(), |_, source| {
        let models = [Model::Tso, Model::Pso].into_iter();
        let wrong = |model| wrong(source, model, Standstill::Ignored);
        models.filter_map(wrong).collect()
    });
}

#[test]
fn costs_without_getting_stuck_are_as_expected() {
    programs::check(&programs::all(), |_, source| {
        let models = [Model::Tso, Model::Pso].into_iter();
        let wrong = |model| wrong(source, model, Standstill::Stuck);
        models.filter_map(wrong).collect()
    });
}

/// Whether a program needs fences, or nothing helps, is what the oracle finds, too, where there
/// are few states.
#[test]
fn the_oracle_agrees_on_what_is_stuck() {
    let compared: Vec<bool> = programs::all()
        .par_iter()
        .flat_map_iter(|name| {
            let source = programs::source(name);
            let ast = fencesmith::lang::parser::parse(&source).expect("it is a program");
            let header = programs::header(&source);
            let models = [
                (Model::Tso, interpreter::Model::Tso),
                (Model::Pso, interpreter::Model::Pso),
            ];
            let name = name.clone();
            models.into_iter().filter_map(move |(model, same)| {
                let setup = interpreter::Setup {
                    model: same,
                    bound: 4,
                    atomics: interpreter::Atomics::DrainPlace,
                    max_states: 4_000,
                };
                let found = interpreter::explore(&ast, &setup);
                let wrong = found.stuck || !found.violations.is_empty();
                let known = wrong || found.complete && !found.waited_for_room;
                let fact = header.fact(Question::Stuck(model));
                known.then(|| {
                    assert_eq!(
                        wrong,
                        fact.answer != Answer::Cost(0),
                        "{name} under {model}"
                    );
                    found.stuck
                })
            })
        })
        .collect();
    let stuck = compared.iter().filter(|stuck| **stuck).count();
    println!("{} compared, {stuck} of them stuck", compared.len());
    assert!(
        compared.len() > 150 && stuck > 5,
        "{} and {stuck}",
        compared.len()
    );
}

/// What the eager engines may explore in this test.
const MOST_STATES: u64 = 40_000;

/// Labelling the whole space gives the same minimal placements as counterexamples do, and
/// ordering constraints none that is cheaper.
#[test]
fn the_eager_engines_agree() {
    let names = programs::all();
    let questions = names.par_iter().flat_map(|name| {
        let models = [Model::Tso, Model::Pso].into_par_iter();
        models.map(move |model| (name, model))
    });
    let compared = questions.map(|(name, model)| {
        let program = programs::program(&programs::source(name));
        let options = |engine, verify| infer::InferOptions {
            engine,
            all: Some(100),
            ..infer::InferOptions::new(
                programs::capped(verify, MOST_STATES),
                vec![Some(1); program.points.len()],
            )
        };
        let monitor = Monitor::default();
        // Few states mean a small program only if they are counted one by one.
        let plain = VerifyOptions {
            search: SearchKind::Plain,
            ..VerifyOptions::refining(model)
        };
        let first = options(EngineKind::Lazy, plain);
        let lazy = infer::infer(&program, &first, &monitor);
        let Some(sets) = placements(&lazy) else {
            return 0;
        };
        let points = options(
            EngineKind::Points,
            VerifyOptions::new(model, lazy.abstraction),
        );
        let points = placements(&infer::infer(&program, &points, &monitor));
        if let Some(points) = &points {
            assert_eq!(*points, sets, "{name} under {model}");
        }
        let ordering = options(
            EngineKind::Ordering,
            VerifyOptions::new(model, lazy.abstraction),
        );
        if let Some(found) = placements(&infer::infer(&program, &ordering, &monitor)) {
            let least = |sets: &[PointSet]| sets.iter().map(PointSet::len).min();
            assert!(least(&found) >= least(&sets), "{name} under {model}");
        }
        usize::from(points.is_some())
    });
    let compared: usize = compared.sum();
    println!("{compared} answers compared");
    assert!(compared > 150, "{compared}");
}

/// The minimal placements in order; `None` if it is not known how many there are.
fn placements(found: &Inference) -> Option<Vec<PointSet>> {
    match &found.conclusion {
        Conclusion::Correct(_) => Some(vec![PointSet::new()]),
        Conclusion::Placed(placed) if !placed.more => {
            let all = placed.all.iter().map(|placement| placement.fences.clone());
            Some(all.collect())
        }
        _ => None,
    }
}

/// AllowedGaps a figure was published.
const TABLE: &str = "Abdulla, Atig, Chen, Leonardsson, Rezine 2012, table 1";
const DEKKER: &str = "Abdulla, Atig, Chen, Leonardsson, Rezine 2012, appendix A";
const FENCES: &str = "Kuperstein, Vechev, Yahav 2011, table 1";
const FIGURE: &str = "Kuperstein, Vechev, Yahav 2011, figure 2";
const FAST: &str = "Kuperstein, Vechev, Yahav 2011, section 6.3.3";
const OWN: &str = "all states of the exact model";

/// Fences over all processes: (program, model, where they may stand, total, source).
const TOTALS: [(&str, Model, AllowedGaps, u64, &str); 31] = {
    use AllowedGaps::{AfterStore, Anywhere};
    use Model::{Pso, Tso};
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
        ("paper/sense0", Pso, Anywhere, 2, FENCES),
        ("barrier/sense-counter", Tso, Anywhere, 0, OWN),
        ("lock/ticket-2", Tso, Anywhere, 0, TABLE),
    ]
};

/// The cost over all processes of the best placement, exactly optimal; and how many
/// minimal ones there are, if that was asked for.
fn total(program: &Program, found: &Inference) -> (u64, usize) {
    match &found.conclusion {
        Conclusion::Correct(_) => (0, 1),
        Conclusion::Placed(placed) if placed.optimality == Optimality::Exact => {
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
            let program = programs::program(&programs::source(name));
            for program in [&program, &program.per_process()] {
                let found = infer(program, model, place);
                let (total, _) = total(program, &found);
                assert_eq!(total, expected, "{name} {model} {place:?}, see {source}");
            }
        });
}

/// Under TSO each process of the bakery has two ways to fence its stores, under PSO one.
#[test]
fn the_bakery_has_four_minimal_placements() {
    for (model, shared, own) in [(Model::Tso, 2, 4), (Model::Pso, 1, 1)] {
        let program = programs::program(&programs::source("mutex/bakery"));
        for (program, expected) in [(&program, shared), (&program.per_process(), own)] {
            let found = infer(program, model, AllowedGaps::AfterStore);
            assert_eq!(total(program, &found), (4, expected), "{model}");
        }
    }
}

/// A fence of its own for each process saves one: the text is the same, the processes that
/// run it are not.
#[test]
fn szymanski_needs_three_fences_if_each_process_has_its_own() {
    let program = programs::program(&programs::source("mutex/szymanski"));
    for model in [Model::Tso, Model::Pso] {
        let (shared, _) = total(&program, &infer(&program, model, AllowedGaps::Anywhere));
        let own = program.per_process();
        let (own, _) = total(&own, &infer(&own, model, AllowedGaps::Anywhere));
        assert_eq!((shared, own), (4, 3), "{model}");
    }
}
