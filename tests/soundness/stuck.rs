//! States that are stuck, against the oracle and every set of fences.

use fencesmith::infer::{Conclusion, InferOptions, infer};
use fencesmith::limits::{Limits, Monitor, Watch};
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Atomics, Model, Semantics};
use fencesmith::program::{PointId, PointSet, Program};
use fencesmith::property::Violation;
use fencesmith::source::Source;
use fencesmith::space::Standstill;
use fencesmith::verify::{Inconclusive, SearchKind, Strategy, Verdict, VerifyOptions};
use fencesmith_testing::cases::{Case, case, families, template_case};
use fencesmith_testing::oracle::interpreter::{self, Setup};
use fencesmith_testing::programs::{answer, program, source};
use rayon::prelude::*;

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

fn options(model: Model, abstraction: Abstraction, atomics: Atomics) -> VerifyOptions {
    VerifyOptions {
        standstill: Standstill::Stuck,
        strategy: Strategy::Refine,
        limits: Limits {
            max_states: Some(20_000),
            ..Limits::default()
        },
        ..VerifyOptions::under(Semantics {
            atomics,
            ..Semantics::new(model, abstraction)
        })
    }
}

fn usual(model: Model) -> VerifyOptions {
    options(model, Abstraction::Fd { k: 1 }, Atomics::DrainPlace)
}

fn compiled(text: &str) -> Program {
    let source = Source::new("random.fen", text.to_string());
    compile(&source).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// What the oracle finds: whether something else is wrong, and whether a state is stuck; none if
/// there are too many states.
fn by_oracle(case: &Case, model: Model, atomics: Atomics) -> Option<(bool, bool)> {
    let found = interpreter::explore(
        &case.ast,
        &Setup {
            model: match model {
                Model::Sc => interpreter::Model::Sc,
                Model::Tso => interpreter::Model::Tso,
                Model::Pso => interpreter::Model::Pso,
            },
            bound: 6,
            atomics: match atomics {
                Atomics::DrainPlace => interpreter::Atomics::DrainPlace,
                Atomics::DrainAll => interpreter::Atomics::DrainAll,
            },
            max_states: 3_000,
        },
    );
    assert!(!found.deadlock || found.stuck, "{}", case.text);
    let usable = found.complete && !found.waited_for_room;
    usable.then_some((!found.violations.is_empty(), found.stuck))
}

/// Compares with the oracle; for each model that was compared, whether a state is stuck and
/// nothing else is wrong, or nothing at all is.
fn compare(case: &Case, seed: u64) -> Vec<bool> {
    let program = case.program.fenced(&PointSet::new());
    let atomics = [Atomics::DrainPlace, Atomics::DrainAll][(seed % 2) as usize];
    let compared = MODELS.into_iter().filter_map(|model| {
        let (wrong, stuck) = by_oracle(case, model, atomics)?;
        let searches = [
            (Abstraction::Fd { k: 1 }, SearchKind::Plain),
            (Abstraction::Fd { k: 0 }, SearchKind::Sets),
            (Abstraction::Exact { bound: 6 }, SearchKind::Plain),
            (Abstraction::Exact { bound: 6 }, SearchKind::Sets),
            (Abstraction::Set, SearchKind::Plain),
            (Abstraction::Pd { k: 1 }, SearchKind::Plain),
            (Abstraction::Logs { widening: 2 }, SearchKind::Plain),
        ];
        for (abstraction, search) in searches {
            let asked = VerifyOptions {
                search,
                ..options(model, abstraction, atomics)
            };
            let asked = VerifyOptions {
                semantics: Semantics {
                    fuse: !seed.is_multiple_of(3),
                    ..asked.semantics
                },
                ..asked
            };
            let found = answer(&program, &asked);
            let say = || {
                format!(
                    "seed {seed}, {model}, {abstraction}, {search}\n{}",
                    case.text
                )
            };
            match found.verdict {
                Verdict::Inconclusive(Inconclusive::Limit(_)) => return None,
                Verdict::Correct => assert!(!wrong && !stuck, "{}", say()),
                Verdict::Violated => assert!(wrong || stuck, "{}", say()),
                Verdict::Inconclusive(_) => {
                    let refines = matches!(abstraction, Abstraction::Set | Abstraction::Pd { .. });
                    assert!(refines, "{:?}: {}", found.verdict, say());
                }
            }
            if found.verdict == Verdict::Violated
                && let Some((violation, trace)) = found.into_trace()
                && violation == Violation::Stuck
            {
                let stepper = asked.semantics.exact().stepper(&program);
                let stuck = trace.last().is_stuck(&stepper, &Watch::never());
                assert_eq!(stuck, Ok(true), "{}", say());
                for spin in trace.last().spins(&stepper) {
                    assert!(
                        spin.begin.is_none_or(|at| at < spin.steps.len()),
                        "{}",
                        say()
                    );
                    let same = |step: &fencesmith::space::TraceStep| {
                        step.after.memory == trace.last().memory
                    };
                    assert!(spin.steps.iter().all(same), "{}", say());
                }
            }
        }
        (!wrong).then_some(stuck)
    });
    compared.collect()
}

#[test]
fn random_programs_are_stuck_where_the_oracle_says_so() {
    let families = families();
    let compared: Vec<bool> = (0..400u64)
        .into_par_iter()
        .flat_map_iter(|seed| {
            let cases = [
                case(seed, &families[0]),
                case(seed, &families[3]),
                template_case(seed),
            ];
            cases.into_iter().flat_map(move |case| compare(&case, seed))
        })
        .collect();
    let stuck = compared.iter().filter(|stuck| **stuck).count();
    let others = compared.len() - stuck;
    println!("{stuck} stuck, {others} not");
    assert!(stuck > 100 && others > 100, "{stuck} stuck, {others} not");
}

/// The fewest fences with which nothing is wrong, by trying every set, small ones first.
fn fewest(whole: &Program, model: Model) -> Option<usize> {
    let points = whole.points.len();
    let mut masks: Vec<usize> = (0..1 << points).collect();
    masks.sort_by_key(|mask| mask.count_ones());
    for mask in masks {
        let fences = (0..points as u32).filter(|bit| mask >> bit & 1 == 1);
        let fences: PointSet = fences.map(PointId).collect();
        let exact = options(model, Abstraction::Exact { bound: 8 }, Atomics::DrainPlace);
        match answer(&whole.fenced(&fences), &exact).verdict {
            Verdict::Correct => return Some(fences.len()),
            Verdict::Violated => {}
            Verdict::Inconclusive(_) => return None,
        }
    }
    None
}

fn inferred(whole: &Program, model: Model) -> Option<usize> {
    let options = InferOptions::new(usual(model), vec![Some(1); whole.points.len()]);
    match infer(whole, &options, &Monitor::default()).conclusion {
        Conclusion::Correct(_) => Some(0),
        Conclusion::Placed(placed) => Some(placed.best.fences.len()),
        _ => None,
    }
}

/// Two processes that hand something over and wait for an answer, with other accesses between.
fn hand_over(seed: u64) -> String {
    let pick = |shift: u32, from: &[&'static str]| from[(seed >> shift) as usize % from.len()];
    let any = |shift| {
        pick(
            shift,
            &[
                "store x = 0;",
                "store y = 0;",
                "store z = 0;",
                "store x = 1;",
                "store z = 1;",
                "load r = x;",
                "swap r = z, 1;",
                "skip;",
            ],
        )
    };
    let wait = |shift, place: &str| {
        let way = pick(
            shift,
            &[
                "do { load r = PLACE; } while (!r);",
                "do { cas r = PLACE, 1, 0; } while (!r);",
                "load r = PLACE; while (!r) { load r = PLACE; }",
            ],
        );
        way.replace("PLACE", place)
    };
    let (asked, answered) = (["y", "z"][seed as usize % 2], "x");
    format!(
        "shared bool x, y, z;
        process p {{ bool r; {} {} store {asked} = 1; {} }}
        process q {{ bool r; {} {} {} store {answered} = 1; }}",
        any(1),
        any(4),
        wait(7, answered),
        any(10),
        wait(13, asked),
        any(16),
    )
}

#[test]
fn the_fewest_fences_are_those_of_all_sets() {
    let compared: Vec<usize> = (0..400u64)
        .into_par_iter()
        .flat_map_iter(|seed| {
            let text = hand_over(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
            let whole = compiled(&text);
            let sc = answer(&whole.fenced(&PointSet::new()), &usual(Model::Sc)).verdict;
            let fits = sc == Verdict::Correct && whole.points.len() <= 16;
            let models = [Model::Tso, Model::Pso].into_iter().filter(move |_| fits);
            models.filter_map(move |model| {
                let fewest = fewest(&whole, model)?;
                assert_eq!(inferred(&whole, model), Some(fewest), "{model}\n{text}");
                Some(fewest)
            })
        })
        .collect();
    let needed = compared.iter().filter(|fewest| **fewest > 0).count();
    println!("{} compared, {needed} of them need fences", compared.len());
    let enough = compared.len() > 100 && needed > 20;
    assert!(enough, "{} compared, {needed} need fences", compared.len());
}

/// A lock that is handed over by two stores, the first of which may come last.
#[test]
fn a_lost_hand_over_needs_fences() {
    let text = "
        shared bool locked, next;
        process waiter {
            bool l;
            store locked = true;
            store next = true;
            do { load l = locked; } while (l);
        }
        process owner {
            bool n;
            do { load n = next; } while (!n);
            store locked = false;
        }";
    let whole = compiled(text);
    let bare = whole.fenced(&PointSet::new());
    let verdict = |model, standstill| {
        let asked = VerifyOptions {
            standstill,
            ..usual(model)
        };
        answer(&bare, &asked).verdict
    };
    for model in MODELS {
        assert_eq!(verdict(model, Standstill::Deadlock), Verdict::Correct);
    }
    assert_eq!(verdict(Model::Tso, Standstill::Stuck), Verdict::Correct);
    assert_eq!(verdict(Model::Pso, Standstill::Stuck), Verdict::Violated);
    assert_eq!(inferred(&whole, Model::Pso), Some(1));
    let mcs = program(&source("lock/mcs"));
    assert_eq!(inferred(&mcs, Model::Tso), Some(0));
    assert_eq!(inferred(&mcs, Model::Pso), Some(2));
}

#[test]
fn what_counts_as_going_on() {
    let verdict = |text: &str| {
        let program = compiled(text).fenced(&PointSet::new());
        answer(&program, &usual(Model::Tso)).verdict
    };
    let stuck = [
        "process p { assume(false); }",
        "process p { while (true) {} }",
        "process p { bool r; r = true; while (r) { havoc r in 1..=1; } }",
        "shared bool x; process p { bool r; do { load r = x; } while (!r); }",
        // An update that changes nothing is a load.
        "shared bool x; process p { bool r; do { cas r = x, 1, 0; } while (!r); }",
        "shared bool x = true; process p { bool r; do { swap r = x, 1; } while (r); }",
        "shared bool x; process p { bool r; while (true) { atomic { load r = x; store x = r; } } }",
        // Others have stopped.
        "shared bool x; process p { bool r; do { load r = x; } while (!r); } process q { skip; }",
    ];
    for text in stuck {
        assert_eq!(verdict(text), Verdict::Violated, "{text}");
    }
    let goes_on = [
        "process p { skip; }",
        // It may stop.
        "process p { bool r; do { havoc r in 0..=1; } while (r); }",
        // It stores, if only what is there.
        "shared bool x; process p { while (true) { store x = 0; } }",
        // It changes memory.
        "shared bool x; process p { bool r; while (true) { swap r = x, !r; } }",
        // It arrives at a label of a property.
        "process p { while (true) { here: skip; } } forbid p at here && false;",
        // Another one can still help.
        "shared bool x; process p { bool r; do { load r = x; } while (!r); } process q { store x = 1; }",
    ];
    for text in goes_on {
        assert_eq!(verdict(text), Verdict::Correct, "{text}");
    }
}

/// A process may go to where it has to wait for ever, whatever else it might have done.
#[test]
fn waiting_is_a_choice() {
    let texts = [
        "process p { either { skip; assume(false); } or { skip; } }",
        "process p { bool r; if (*) { r = true; } assume(!r); }",
        "process p { bool r = *; if (r) { skip; atomic { skip; assume(!r); } } else { stop; } }",
    ];
    for text in texts {
        for standstill in [Standstill::Deadlock, Standstill::Stuck] {
            let asked = VerifyOptions {
                standstill,
                ..usual(Model::Sc)
            };
            let found = answer(&compiled(text).fenced(&PointSet::new()), &asked);
            assert_eq!(found.verdict, Verdict::Violated, "{text}");
        }
    }
}
