//! One random program, written in C and in the input language: both have the same verdicts, the
//! same final states and the same costs.

use crate::run::compiled;
use fencesmith::infer::Conclusion;
use fencesmith::memory::step::At;
use fencesmith::program::{Program, Value};
use fencesmith::space::{End, Goal, Search, Standstill, explore};
use fencesmith::{
    Abstraction, InferOptions, Limits, Model, Monitor, Semantics, Source, Verdict, VerifyOptions,
    compile, infer, verify,
};
use fencesmith_testing::random::{Random, seeds};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

/// Shared variables: `x` and `y` are atomic, `a` and `b` are the results of the threads.
const SHARED: [&str; 4] = ["x", "y", "a", "b"];

/// The same program in both languages.
struct Pair {
    c: String,
    fen: String,
    random: Random,
    /// Whether pointers lead to the variables in C.
    pointers: bool,
}

impl Pair {
    /// Two threads; `condition` says what the final state must satisfy, in both languages.
    fn new(seed: u64, condition: Option<&str>) -> Pair {
        let mut random = Random(seed);
        let pointers = random.chance(30);
        let mut pair = Pair {
            c: "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\n\
                static atomic_int x, y;\nstatic int a, b;\n\n"
                .to_string(),
            fen: "shared int x, y, a, b;\n\n".to_string(),
            random,
            pointers,
        };
        if pointers {
            pair.c += "static atomic_int *other(atomic_int *p) { return p == &x ? &y : &x; }\n\n";
        }
        for (name, result) in [("one", "a"), ("two", "b")] {
            writeln!(pair.c, "static void *{name}(void *argument)\n{{").expect("it fits");
            writeln!(pair.fen, "process {name} {{").expect("it fits");
            pair.line(1, "int r = 0, s = 0;", "int r; int s;");
            for _ in 0..pair.random.between(2, 4) {
                pair.statement(1);
            }
            pair.line(
                1,
                &format!("{result} = r * 4 + s;"),
                &format!("store {result} = r * 4 + s;"),
            );
            pair.c += "    return NULL;\n}\n\n";
            pair.fen += "}\n\n";
        }
        pair.c += "int main(void)\n{\n    pthread_t t, u;\n    pthread_create(&t, NULL, one, NULL);\n    \
            pthread_create(&u, NULL, two, NULL);\n    pthread_join(t, NULL);\n    pthread_join(u, NULL);\n";
        match condition {
            Some(condition) => {
                writeln!(pair.c, "    assert({condition});").expect("it fits");
                writeln!(pair.fen, "final {condition};").expect("it fits");
            }
            None => pair.c += "    (void)(x + y + a + b);\n",
        }
        pair.c += "    return 0;\n}\n";
        pair
    }

    fn line(&mut self, depth: usize, c: &str, fen: &str) {
        let indent = "    ".repeat(depth);
        writeln!(self.c, "{indent}{c}").expect("it fits");
        writeln!(self.fen, "{indent}{fen}").expect("it fits");
    }

    /// A pointer to `x` or `y`, and its name.
    fn place(&mut self) -> (String, &'static str) {
        let name = self.random.pick(&["x", "y"]);
        let another = if name == "x" { "y" } else { "x" };
        match self.pointers && self.random.chance(60) {
            true => (format!("other(&{another})"), name),
            false => (format!("&{name}"), name),
        }
    }

    fn statement(&mut self, depth: usize) {
        let (pointer, name) = self.place();
        let local = self.random.pick(&["r", "s"]);
        let other = if local == "r" { "s" } else { "r" };
        let value = self.random.between(1, 2);
        let relaxed = "memory_order_relaxed";
        let nested = depth < 3;
        match self.random.below(if nested { 17 } else { 13 }) {
            0..=3 => self.line(
                depth,
                &format!("atomic_store_explicit({pointer}, {value}, {relaxed});"),
                &format!("store {name} = {value};"),
            ),
            4..=7 => self.line(
                depth,
                &format!("{local} = atomic_load_explicit({pointer}, {relaxed});"),
                &format!("load {local} = {name};"),
            ),
            8 => self.line(
                depth,
                &format!("{local} = atomic_exchange_explicit({pointer}, {value}, {relaxed});"),
                &format!("swap {local} = {name}, {value};"),
            ),
            9 => {
                let c = format!(
                    "{other} = {value}; {local} = atomic_compare_exchange_strong_explicit({pointer}, &(int){{ {other} }}, 0, {relaxed}, {relaxed});"
                );
                let fen =
                    format!("nofence {{ {other} = {value}; cas {local} = {name}, {other}, 0; }}");
                self.line(depth, &format!("{{ {c} }}"), &fen);
            }
            10 => self.line(
                depth,
                "atomic_thread_fence(memory_order_release);",
                "fence ss;",
            ),
            11 => self.line(
                depth,
                &format!("atomic_store_explicit({pointer}, {value}, memory_order_release);"),
                &format!("nofence {{ fence ss; store {name} = {value}; }}"),
            ),
            12 => self.line(
                depth,
                &format!("{local} = {other} == {value} ? 0 : {value};"),
                &format!("{local} = {other} == {value} ? 0 : {value};"),
            ),
            13 | 14 => {
                let head = format!("if ({local} == {value}) {{");
                self.line(depth, &head, &head);
                self.statement(depth + 1);
                if self.random.chance(50) {
                    self.line(depth, "} else {", "} else {");
                    self.statement(depth + 1);
                }
                self.line(depth, "}", "}");
            }
            _ => {
                // A loop that spins; its end may never come.
                let head = format!("while ({local} == {}) {{", self.random.between(0, 1));
                self.line(depth, &head, &head);
                self.line(
                    depth + 1,
                    &format!("{local} = atomic_load_explicit({pointer}, {relaxed});"),
                    &format!("load {local} = {name};"),
                );
                self.line(depth, "}", "}");
            }
        }
    }

    fn programs(&self) -> (Program, Program) {
        let (_, c) = compiled(&self.c).unwrap_or_else(|error| panic!("{error}\n{}", self.c));
        let source = Source::new("pair.fen", self.fen.as_str());
        let fen = compile(&source);
        let fen = fen.unwrap_or_else(|errors| panic!("{errors:?}\n{}", self.fen));
        (c, fen)
    }
}

/// The values of the shared variables when all processes have ended with nothing pending.
fn finals(program: &Program, model: Model) -> Option<BTreeSet<Vec<Value>>> {
    let semantics = Semantics::new(model, Abstraction::Exact { bound: 3 });
    let found = explore(&Search {
        stepper: &semantics.stepper(program),
        goal: Goal::Snapshots,
        standstill: Standstill::Ignored,
        limits: &Limits {
            max_states: Some(200_000),
            ..Limits::default()
        },
        monitor: &Monitor::default(),
        threads: 1,
    });
    let ended = found.snapshots.iter().filter(|state| {
        let mut all = program.processes.iter().zip(&state.configs);
        all.all(|(process, config)| config.at == At::Loc(process.exit) && config.buffers.is_empty())
    });
    let value = |name: &str, memory: &[Value]| {
        // What is not in memory was never written.
        let place = program.place_named(name);
        place.map_or(0, |place| memory[place.index()])
    };
    let shown = ended.map(|state| SHARED.map(|name| value(name, &state.memory)).to_vec());
    (found.end == End::Exhausted).then(|| shown.collect())
}

#[test]
fn the_same_final_states() {
    let compared = AtomicUsize::new(0);
    let several = AtomicUsize::new(0);
    seeds(0, 75).into_par_iter().for_each(|seed| {
        let pair = Pair::new(seed, None);
        let (c, fen) = pair.programs();
        let (c, fen) = (
            c.fenced(&Default::default()),
            fen.fenced(&Default::default()),
        );
        for model in MODELS {
            let (Some(one), Some(other)) = (finals(&c, model), finals(&fen, model)) else {
                continue;
            };
            assert_eq!(one, other, "seed {seed}, {model}\n{}\n{}", pair.c, pair.fen);
            compared.fetch_add(1, Ordering::Relaxed);
            several.fetch_add(usize::from(one.len() > 1), Ordering::Relaxed);
        }
    });
    assert!(compared.into_inner() > 175);
    assert!(several.into_inner() > 75);
}

/// A condition that a final state of PSO violates, and none of SC if that can be.
fn telling(seed: u64) -> Option<String> {
    let (_, fen) = Pair::new(seed, None).programs();
    let bare = fen.fenced(&Default::default());
    let (sc, pso) = (finals(&bare, Model::Sc)?, finals(&bare, Model::Pso)?);
    let state = pso.difference(&sc).next().or(pso.first())?;
    let equal = SHARED.iter().zip(state);
    let equal: Vec<String> = equal
        .map(|(name, value)| format!("{name} == {value}"))
        .collect();
    Some(format!("!({})", equal.join(" && ")))
}

#[test]
fn the_same_verdicts_and_costs() {
    let violated = AtomicUsize::new(0);
    let placed = AtomicUsize::new(0);
    seeds(1000, 250).into_par_iter().for_each(|seed| {
        let Some(condition) = telling(seed) else {
            return;
        };
        let pair = Pair::new(seed, Some(&condition));
        let (c, fen) = pair.programs();
        let what = |what: &str| format!("seed {seed}, {what}\n{}\n{}", pair.c, pair.fen);
        for model in MODELS {
            let options = VerifyOptions::refining(model);
            let answer = |program: &Program| {
                let bare = program.fenced(&Default::default());
                verify(&bare, &options, &Monitor::default()).verdict
            };
            let (one, other) = (answer(&c), answer(&fen));
            assert_eq!(one, other, "{}", what(model.name()));
            violated.fetch_add(usize::from(one == Verdict::Violated), Ordering::Relaxed);
            if model == Model::Sc || one != Verdict::Violated {
                continue;
            }
            let cost = |program: &Program| {
                let costs = vec![Some(1); program.points.len()];
                let options = InferOptions::new(options.clone(), costs);
                match infer(program, &options, &Monitor::default()).conclusion {
                    Conclusion::Placed(placed) => Some(placed.best.cost),
                    _ => None,
                }
            };
            let (one, other) = (cost(&c), cost(&fen));
            assert_eq!(one, other, "{}", what(model.name()));
            placed.fetch_add(usize::from(one.is_some()), Ordering::Relaxed);
        }
    });
    assert!(violated.into_inner() > 20);
    assert!(placed.into_inner() > 8);
}
