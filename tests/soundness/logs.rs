//! The search by view logs against the oracle, exact buffers, FD(k) and the suite.

use fencesmith::lang::ast::Ast;
use fencesmith::lang::insert_fences;
use fencesmith::lang::parser::parse;
use fencesmith::limits::Limits;
use fencesmith::lower::compile;
use fencesmith::memory::{Abstraction, Atomics, Model, Semantics};
use fencesmith::program::{FenceKind, FenceSite, PointId, Program};
use fencesmith::source::Source;
use fencesmith::verify::{Inconclusive, Strategy, Verdict, VerifyOptions};
use fencesmith_testing::cases::{Case, case, families, template_case};
use fencesmith_testing::foreign;
use fencesmith_testing::oracle::interpreter::{self, Observation, Setup, Violation};
use fencesmith_testing::programs::header::{Answer, Problem, Question};
use fencesmith_testing::programs::{self, MODELS, answer};
use fencesmith_testing::questions::{Questions, Shape, questions};
use fencesmith_testing::random::{Random, seeds};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Add, Range};

/// What the engine may visit before it is given up.
const MOST_STATES: u64 = 20_000;

const MOST_BYTES: u64 = 1 << 24;

/// What the oracle may visit.
const MOST_ORACLE_STATES: usize = 4_000;

/// A program without loops is decided with one of these widenings.
const WIDENINGS: Range<usize> = 2..12;

/// What became of comparisons.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    programs: usize,
    correct: usize,
    violated: usize,
    /// The engine did not decide: widening was too coarse.
    coarse: usize,
    /// A limit was reached, by the engine or by what it is compared with.
    unknown: usize,
}

impl Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally {
            programs: self.programs + other.programs,
            correct: self.correct + other.correct,
            violated: self.violated + other.violated,
            coarse: self.coarse + other.coarse,
            unknown: self.unknown + other.unknown,
        }
    }
}

fn total(tallies: impl ParallelIterator<Item = Tally>) -> Tally {
    tallies.reduce(Tally::default, Tally::add)
}

/// What a program is run under.
#[derive(Debug, Clone, Copy)]
struct Rules {
    model: Model,
    atomics: Atomics,
    fuse: bool,
}

impl Rules {
    fn of(model: Model, random: &mut Random) -> Rules {
        Rules {
            model,
            atomics: random.pick(&[Atomics::DrainPlace, Atomics::DrainAll]),
            fuse: random.chance(80),
        }
    }

    fn options(self, abstraction: Abstraction) -> VerifyOptions {
        let semantics = Semantics {
            atomics: self.atomics,
            fuse: self.fuse,
            ..Semantics::new(self.model, abstraction)
        };
        VerifyOptions {
            limits: Limits {
                max_states: Some(MOST_STATES),
                max_memory: Some(MOST_BYTES),
                ..Limits::default()
            },
            ..VerifyOptions::under(semantics)
        }
    }

    fn setup(self, bound: usize) -> Setup {
        Setup {
            model: match self.model {
                Model::Sc => interpreter::Model::Sc,
                Model::Tso => interpreter::Model::Tso,
                Model::Pso => interpreter::Model::Pso,
            },
            bound,
            atomics: match self.atomics {
                Atomics::DrainPlace => interpreter::Atomics::DrainPlace,
                Atomics::DrainAll => interpreter::Atomics::DrainAll,
            },
            max_states: MOST_ORACLE_STATES,
        }
    }
}

/// What the engine says with one widening.
fn by_logs(program: &Program, rules: Rules, widening: usize) -> Verdict {
    let options = rules.options(Abstraction::Logs { widening });
    answer(program, &options).verdict
}

/// What is known of a program without the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Correct,
    Violated,
    /// There is no violation with buffers of some length.
    NotViolatedYet,
}

/// Compares the engine with what is known. Programs without loops must be decided.
fn compare(
    program: &Program,
    rules: Rules,
    known: Known,
    decided: bool,
    say: &dyn Fn() -> String,
) -> Tally {
    let mut tally = Tally::default();
    let agree = |verdict: Verdict, widening: usize| {
        let wrong = match (verdict, known) {
            (Verdict::Correct, Known::Violated) => "a violation is missed",
            (Verdict::Violated, Known::Correct) => "there is no such violation",
            _ => return,
        };
        panic!("{wrong} with widening {widening}, {rules:?}\n{}", say());
    };
    agree(by_logs(program, rules, 1), 1);
    for widening in WIDENINGS {
        let verdict = by_logs(program, rules, widening);
        agree(verdict, widening);
        match verdict {
            Verdict::Correct => tally.correct += 1,
            Verdict::Violated => tally.violated += 1,
            Verdict::Inconclusive(Inconclusive::Limit(_)) => tally.unknown += 1,
            Verdict::Inconclusive(Inconclusive::Spurious) if widening + 1 < WIDENINGS.end => {
                continue;
            }
            Verdict::Inconclusive(why) => {
                assert!(
                    !decided,
                    "{why:?}, but it is {known:?}, {rules:?}\n{}",
                    say()
                );
                println!("not decided: {why:?}, {known:?}, {rules:?}\n{}", say());
                tally.coarse += 1;
            }
        }
        // More widening gives the same answer or a better one.
        let finer = by_logs(program, rules, widening + 1);
        agree(finer, widening + 1);
        let limited = |verdict| matches!(verdict, Verdict::Inconclusive(Inconclusive::Limit(_)));
        if decided && !limited(finer) && !limited(verdict) {
            assert_eq!(finer, verdict, "widening {widening}, {rules:?}\n{}", say());
        }
        break;
    }
    tally
}

fn compiled(text: &str) -> (Source, Program) {
    let source = Source::new("random.fen", text.to_string());
    let program = compile(&source).unwrap_or_else(|errors| {
        let errors = fencesmith::diagnostic::render(&source, &errors, false);
        panic!("{errors}\n{text}")
    });
    (source, program)
}

fn tree(text: &str) -> Ast {
    parse(&Source::new("random.fen", text.to_string())).expect("it was compiled")
}

/// What the oracle knows of each property of a program; none if there are too many states.
fn by_oracle(text: &str, count: usize, rules: Rules, bounds: &[usize]) -> Option<Vec<Known>> {
    let ast = tree(text);
    let mut known = Vec::new();
    for &bound in bounds {
        let found = interpreter::explore(&ast, &rules.setup(bound));
        if !found.complete {
            break;
        }
        let fails = |violation: &Violation| !matches!(violation, Violation::Property(_));
        let fails = found.violations.iter().any(fails);
        let each = (0..count).map(|property| {
            match fails || found.violations.contains(&Violation::Property(property)) {
                true => Known::Violated,
                false if found.waited_for_room => Known::NotViolatedYet,
                false => Known::Correct,
            }
        });
        known = each.collect();
        if !known.contains(&Known::NotViolatedYet) {
            break;
        }
    }
    (!known.is_empty()).then_some(known)
}

/// Fences at some places of a text.
fn some_fences(program: &Program, random: &mut Random) -> Vec<(FenceSite, FenceKind)> {
    let chance = random.pick(&[0, 15, 40]);
    let mut fences = Vec::new();
    for point in &program.points {
        if random.chance(chance) {
            let kinds = [FenceKind::Full, FenceKind::StoreStore, FenceKind::StoreLoad];
            let full = random.chance(60);
            let kind = if full {
                FenceKind::Full
            } else {
                random.pick(&kinds)
            };
            fences.push((point.sites[0], kind));
        }
    }
    fences
}

/// Asks the engine and the oracle all questions about a program.
fn ask(questions: &Questions, seed: u64, shape: Shape) -> Tally {
    let mut random = Random(seed ^ 0x5eed);
    let text = questions.with_all();
    let (source, whole) = compiled(&text);
    let mut tally = Tally {
        programs: questions.properties.len(),
        ..Tally::default()
    };
    for model in MODELS {
        let rules = Rules::of(model, &mut random);
        let fences = some_fences(&whole, &mut random);
        let fenced = insert_fences(&source, &fences);
        let (bounds, decided): (&[usize], bool) = match shape {
            Shape::Straight => (&[6], true),
            Shape::Streams | Shape::Loops => (&[1, 2, 4], false),
        };
        let count = questions.properties.len();
        let Some(known) = by_oracle(&fenced, count, rules, bounds) else {
            tally.unknown += 1;
            continue;
        };
        for (property, &known) in known.iter().enumerate() {
            let (_, program) = compiled(&questions.with(property));
            let placed: BTreeMap<PointId, FenceKind> = fences
                .iter()
                .filter_map(|(site, kind)| {
                    let mut points = program.points.iter();
                    // Code that is never reached has points only if a property names it.
                    let at = points.position(|point| point.sites.contains(site))?;
                    Some((PointId(at as u32), *kind))
                })
                .collect();
            let program = program.fenced_by(&placed);
            let say = || {
                let property = &questions.properties[property];
                format!("seed {seed}, {shape:?}, {property}\n{fenced}")
            };
            tally = tally + compare(&program, rules, known, decided, &say);
        }
    }
    tally
}

fn ask_all(shape: Shape, count: u64) -> Tally {
    let seeds = seeds(0, count).into_par_iter();
    let tally = total(seeds.map(|seed| ask(&questions(seed, shape), seed, shape)));
    println!("{shape:?}: {tally:?}");
    tally
}

#[test]
fn programs_without_loops_are_decided() {
    let tally = ask_all(Shape::Straight, 260);
    assert_eq!(tally.coarse, 0);
    assert!(tally.programs > 1500, "{tally:?}");
    assert!(tally.correct > 2400 && tally.violated > 900, "{tally:?}");
}

#[test]
fn the_order_of_many_stores() {
    let tally = ask_all(Shape::Streams, 130);
    assert!(tally.programs > 750, "{tally:?}");
    assert!(tally.correct > 900 && tally.violated > 300, "{tally:?}");
}

#[test]
fn programs_with_loops() {
    let tally = ask_all(Shape::Loops, 100);
    assert!(tally.programs > 600, "{tally:?}");
    assert!(tally.correct > 720 && tally.violated > 240, "{tally:?}");
}

/// What exact buffers and FD(k) know of a program.
fn by_others(program: &Program, rules: Rules) -> Option<Known> {
    let exact = rules.options(Abstraction::Exact { bound: 2 });
    let refining = VerifyOptions {
        strategy: Strategy::Refine,
        ..rules.options(Abstraction::Fd { k: 1 })
    };
    let mut known = None;
    for options in [exact, refining] {
        match answer(program, &options).verdict {
            Verdict::Correct => return Some(Known::Correct),
            Verdict::Violated => return Some(Known::Violated),
            Verdict::Inconclusive(Inconclusive::Bound(_)) => known = Some(Known::NotViolatedYet),
            Verdict::Inconclusive(_) => {}
        }
    }
    known
}

/// Compares with exact buffers and FD(k), with fences at some points.
fn with_fences(case: &Case, seed: u64) -> Tally {
    let mut random = Random(seed ^ 0xfe9ce);
    let mut tally = Tally {
        programs: 1,
        ..Tally::default()
    };
    for model in MODELS {
        let rules = Rules::of(model, &mut random);
        let chance = random.pick(&[0, 20, 50]);
        let points = (0..case.program.points.len() as u32).map(PointId);
        let points = points.filter(|_| random.chance(chance)).collect();
        let program = case.program.fenced(&points);
        let Some(known) = by_others(&program, rules) else {
            tally.unknown += 1;
            continue;
        };
        let say = || format!("seed {seed}, fences at {points:?}\n{}", case.text);
        tally = tally + compare(&program, rules, known, false, &say);
    }
    tally
}

#[test]
fn exact_buffers_and_fd_agree() {
    let families = families();
    let seeds = seeds(0, 100).into_par_iter();
    let tally = total(seeds.map(|seed| {
        let all = families.iter().map(|family| case(seed, family));
        let all = all.chain([template_case(seed)]);
        all.map(|case| with_fences(&case, seed))
            .fold(Tally::default(), Tally::add)
    }));
    println!("{tally:?}");
    assert!(tally.correct > 325 && tally.violated > 325, "{tally:?}");
    assert!(tally.coarse * 50 < tally.correct, "{tally:?}");
}

/// A property that is violated if exactly this state is final.
fn is_not_final(state: &Observation) -> String {
    let memory = state.memory.iter();
    let memory = memory.map(|(place, value)| format!("{place} == {value}"));
    let locals = state.processes.iter().flat_map(|(name, locals, _)| {
        let locals = locals.iter();
        locals.map(move |(local, value)| format!("{name}.{local} == {value}"))
    });
    let all: Vec<String> = memory.chain(locals).collect();
    format!("final !({});", all.join(" && "))
}

/// The final states of a program are those of the oracle: each of them is reached, and others
/// that are like them are not.
fn final_states(seed: u64) -> Tally {
    let mut random = Random(seed ^ 0xf17a1);
    let body = questions(seed, Shape::Straight).body;
    let mut tally = Tally {
        programs: 1,
        ..Tally::default()
    };
    for model in [Model::Tso, Model::Pso] {
        let rules = Rules::of(model, &mut random);
        let found = interpreter::explore(&tree(&body), &rules.setup(6));
        if !found.complete || !found.violations.is_empty() {
            tally.unknown += 1;
            continue;
        }
        let finals = found.quiescent.iter();
        let finals = finals.filter(|state| state.processes.iter().all(|(.., next)| next.is_none()));
        let finals: BTreeSet<&Observation> = finals.collect();
        for &state in finals.iter().take(6) {
            let mut others = vec![state.clone()];
            for _ in 0..2 {
                let mut other = state.clone();
                let processes = other.processes.len();
                let locals = &mut other.processes[random.below(processes)].1;
                let at = random.below(locals.len());
                locals[at].1 = (locals[at].1 + 1) % 3;
                if random.chance(50) {
                    let value = other.memory.values_mut().next().expect("there is a place");
                    *value = 1 - (*value).min(1);
                }
                others.push(other);
            }
            for state in others {
                let text = format!("{body}{}\n", is_not_final(&state));
                let (_, program) = compiled(&text);
                let known = match finals.contains(&state) {
                    true => Known::Violated,
                    false => Known::Correct,
                };
                let program = program.fenced(&Default::default());
                let say = || format!("seed {seed}\n{text}");
                tally = tally + compare(&program, rules, known, true, &say);
            }
        }
    }
    tally
}

#[test]
fn final_states_are_those_of_the_oracle() {
    let tally = total(seeds(0, 100).into_par_iter().map(final_states));
    println!("{tally:?}");
    assert!(tally.correct > 325 && tally.violated > 325, "{tally:?}");
}

/// The suite keeps to the answers of its headers.
#[test]
fn the_suite_has_the_verdicts_of_its_headers() {
    let names = programs::all();
    programs::check(&names, |_, source| {
        let program = programs::program(source).fenced(&Default::default());
        let header = programs::header(source);
        let wrong = MODELS.into_iter().filter_map(|model| {
            let fact = header.fact(Question::Verdict(model));
            let options = VerifyOptions::new(model, Abstraction::Logs { widening: 2 });
            let verdict = answer(&program, &options).verdict;
            let fits = match verdict {
                Verdict::Correct => fact.answer == Answer::Correct,
                Verdict::Violated => fact.answer == Answer::Violated,
                Verdict::Inconclusive(_) => false,
            };
            (!fits).then(|| Problem(fact.line, format!("view logs say {verdict:?}")))
        });
        wrong.collect()
    });
}

/// Foreign files have the verdicts of refinement.
#[test]
fn foreign_files_have_the_verdicts_of_refinement() {
    let tallies = foreign::all().into_par_iter().map(|(format, source)| {
        let program = foreign::program(&foreign::ast(format, &source, &[]));
        let mut tally = Tally {
            programs: 1,
            ..Tally::default()
        };
        for model in MODELS {
            let rules = Rules {
                model,
                atomics: Atomics::DrainPlace,
                fuse: true,
            };
            match by_others(&program, rules) {
                None => tally.unknown += 1,
                Some(known) => {
                    let say = || source.name().to_string();
                    tally = tally + compare(&program, rules, known, false, &say);
                }
            }
        }
        tally
    });
    let tally = total(tallies);
    println!("{tally:?}");
    assert!(tally.correct > 100 && tally.violated > 50, "{tally:?}");
}

#[track_caller]
fn check(text: &str, model: Model, expected: Verdict) {
    let (_, program) = compiled(text);
    let program = program.fenced(&Default::default());
    let options = VerifyOptions::new(model, Abstraction::Logs { widening: 2 });
    assert_eq!(answer(&program, &options).verdict, expected, "{text}");
}

/// Processes with the same text are one to the engine, but fail at different places.
#[test]
fn processes_with_the_same_code_fail() {
    let text = "shared int[0..=2] x, y;
        process a { int r; load r = x; assume (r == 1); load r = y; assert (r != 2); }
        process b { int r; load r = x; assume (r == 1); load r = y; assert (r != 2); }
        process c { store y = 1; store x = 1; store y = 2; }";
    for model in MODELS {
        check(text, model, Verdict::Violated);
    }
}

/// Properties that look at memory see processes that are ahead of their stores.
#[test]
fn processes_run_ahead() {
    let text = "shared bool x, y; process p { bool r; store x = 1; A load r = y; L: skip; }
        forbid p at L && x == 0;";
    let ways = [
        ("", [true, true]),
        ("fence;", [false, false]),
        ("fence ss;", [true, true]),
        ("fence sl;", [false, false]),
        ("fence sl; fence ss;", [false, false]),
        ("fence ss; fence sl;", [false, false]),
        ("fence ss; store y = 1;", [true, true]),
        ("fence sl; fence ss; store y = 1;", [false, false]),
    ];
    for (between, violated) in ways {
        let text = text.replace('A', between);
        for (model, violated) in [Model::Tso, Model::Pso].into_iter().zip(violated) {
            let expected = if violated {
                Verdict::Violated
            } else {
                Verdict::Correct
            };
            check(&text, model, expected);
        }
    }
}

/// A loop may pass any number of fences before a violation.
#[test]
fn violations_behind_many_store_load_fences() {
    let text = "shared int[0..=2] x, y; process p { int r; do { store x = 1; fence sl; } while (*);
            store y = 1; load r = y; L: skip; }
        process q { int r; load r = y; M: skip; }
        forbid p at L && q at M && q.r == 0 && y == 0;";
    check(text, Model::Pso, Verdict::Violated);
}

/// A violation may be found behind many changes, with several stores pending to each place.
#[test]
fn violations_behind_many_changes() {
    let text = "const n = 3;
        shared int[0..=n] x = n, y = n, a[n + 1] = n;
        process p[i in 0..=n - 1] {
            int[0..=n] r = n, s = n;
            while (true) {
                here: r = (r + 1) % n;
                if (r != s) { store a[r] = i; }
                if (r < i) { store y = i; }
            }
        }
        forbid a[0] == 1 && a[1] == 0;";
    for model in MODELS {
        check(text, model, Verdict::Violated);
    }
}
