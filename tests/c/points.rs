//! A fence point of a C program is where a person can type a fence: the text with the fence
//! typed in compiles, and behaves like the program that waits at the point.

use crate::run::{Folder, compiled, gcc_accepts};
use fencesmith::c::insert_fences;
use fencesmith::fences;
use fencesmith::limits::{Limits, Monitor};
use fencesmith::memory::Buffers;
use fencesmith::program::{FenceKind, FenceSite, PointId, PointSet, Program, Value};
use fencesmith::space::{End, Goal, Search, explore};
use fencesmith::{Abstraction, Model, Semantics, Source};
use fencesmith_testing::random::Random;
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory and the pending stores of all processes.
type Stores = (Vec<Value>, Vec<Buffers>);

/// What may be stored and pending, unless there are too many states. A typed fence is one more
/// position with the same stores.
fn stores(program: &Program, model: Model) -> Option<HashSet<Stores>> {
    let semantics = Semantics {
        fuse: false,
        ..Semantics::new(model, Abstraction::Exact { bound: 2 })
    };
    let found = explore(&Search {
        stepper: &semantics.stepper(program),
        goal: Goal::Snapshots,
        standstill: fencesmith::space::Standstill::Ignored,
        limits: &Limits {
            max_states: Some(30_000),
            ..Limits::default()
        },
        monitor: &Monitor::default(),
        threads: 1,
    });
    let all = found.snapshots.into_iter().map(|state| {
        let configs = state.configs.iter();
        (
            state.memory.clone(),
            configs.map(|config| config.buffers.clone()).collect(),
        )
    });
    (found.end == End::Exhausted).then(|| all.collect())
}

/// A random program of two threads that takes few steps.
struct Writer {
    text: String,
    random: Random,
    labels: usize,
}

impl Writer {
    fn program(seed: u64) -> String {
        let mut writer = Writer {
            text: "#include <pthread.h>\n\n\
                #define SET(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELAXED)\n\
                #define GET(place) __atomic_load_n(&place, __ATOMIC_RELAXED)\n\
                #define BOTH(value) do { SET(x, value); SET(y, value); } while (0)\n\
                #define TWICE x = 1; y = 2\n\n\
                static int x, y;\nstatic int a, b;\n\n"
                .to_string(),
            random: Random(seed),
            labels: 0,
        };
        writer.text += "static int both(int value) {\n    SET(x, value);\n    return GET(y); }\n\n";
        for name in ["one", "two"] {
            writer.text += &format!("static void *{name}(void *argument)\n{{\n    int r = 0;\n");
            for _ in 0..2 + writer.random.below(2) {
                writer.statement(1, false);
            }
            let end = writer
                .random
                .pick(&["    return 0;\n}\n\n", "    a = r; return NULL; }\n"]);
            writer.text += end;
        }
        writer.text += "int main(void)\n{\n    pthread_t t, u;\n    pthread_create(&t, 0, one, 0);\n    \
            pthread_create(&u, 0, two, 0);\n    pthread_join(t, 0);\n    pthread_join(u, 0);\n    return 0;\n}\n";
        writer.text
    }

    /// White space before a statement: mostly a line of its own.
    fn begin(&mut self, depth: usize) {
        let indent = "    ".repeat(depth);
        let blank = match self.random.below(6) {
            0 => " ".to_string(),
            1 => format!(" /* c */ // d\n{indent}"),
            _ => format!("\n{indent}"),
        };
        self.text += &blank;
    }

    fn body(&mut self, depth: usize) {
        match self.random.below(5) {
            0 => {
                self.text += " {";
                self.statement(depth + 1, false);
                self.begin(depth);
                self.text += "}";
            }
            1 => self.text += " { }",
            _ => self.statement(depth + 1, true),
        }
    }

    /// A statement; or several, if they need not be one.
    fn statement(&mut self, depth: usize, one: bool) {
        self.begin(depth);
        let simple = [
            "x = 1;",
            "y = 2; /* y */",
            "SET(x, 2);",
            "r = GET(y);",
            "r += x;",
            "b = r;",
            "BOTH(1);",
            "r = both(1);",
            "__atomic_fetch_add(&x, 1, __ATOMIC_RELAXED);",
            ";",
            "TWICE;",
            "x = 1; r = y;",
            "int s = x; y = s;",
        ];
        if depth > 3 || self.random.chance(55) {
            let count = if one { 10 } else { 13 };
            let word = simple[self.random.below(count)];
            self.text += word;
            return;
        }
        match self.random.below(6) {
            0 => {
                self.text += "if (r)";
                self.body(depth);
            }
            1 => {
                self.text += "if (GET(x) == 1)";
                self.body(depth);
                self.begin(depth);
                self.text += "else";
                self.body(depth);
            }
            2 => {
                self.text += "for (int i = 0; i < 2; i++)";
                self.body(depth);
            }
            3 => {
                self.text += "do";
                self.body(depth);
                self.text += " while (0);";
            }
            4 => {
                self.labels += 1;
                let label = self.labels;
                self.text += &format!("{{ if (r == 2) goto l{label}; l{label}:");
                self.statement(depth + 1, true);
                self.text += " }";
            }
            _ => {
                self.text += "switch (r) {\n    case 0:";
                self.statement(depth + 1, true);
                self.text += " break;\n    case 1: default:";
                self.statement(depth + 1, true);
                self.begin(depth);
                self.text += "}";
            }
        }
    }
}

#[test]
fn typed_fences_do_what_points_do() {
    let folder = Folder::new();
    let (compared, changed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let names: Vec<Vec<String>> = (0..24_u64)
        .into_par_iter()
        .map(|seed| {
            let text = Writer::program(seed);
            let (source, program) = compiled(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let sites = sites(&program);
            assert!(!sites.is_empty(), "{text}");
            let random = &mut Random(seed);
            let mut names = Vec::new();
            for number in 0..8 {
                let chosen: Vec<(PointId, FenceSite)> = (0..1 + random.below(2))
                    .map(|_| random.pick(&sites))
                    .collect();
                let typed = typed(&source, &chosen);
                let name = format!("t{seed}-{number}.c");
                folder.write(&name, &typed);
                names.push(name);
                let (_, other) = compiled(&typed).unwrap_or_else(|e| panic!("{e}\n{typed}"));
                let points: PointSet = chosen.iter().map(|(point, _)| *point).collect();
                let (waits, none) = (program.fenced(&points), PointSet::new());
                let found = [waits, other.fenced(&none), program.fenced(&none)]
                    .map(|program| stores(&program, Model::Pso));
                if let [Some(waits), Some(typed_in), without] = found {
                    let difference = waits.symmetric_difference(&typed_in).next();
                    assert_eq!(difference, None, "{chosen:?}\n{text}\n{typed}");
                    compared.fetch_add(1, Ordering::Relaxed);
                    let differs = without.is_some_and(|without| without != waits);
                    changed.fetch_add(usize::from(differs), Ordering::Relaxed);
                }
            }
            names
        })
        .collect();
    gcc_accepts(&folder, &names.concat());
    let (compared, changed) = (compared.into_inner(), changed.into_inner());
    assert!(compared > 150 && changed > 15, "{compared} {changed}");
}

#[test]
fn every_point_is_found_by_its_name() {
    for seed in 0..20 {
        let (source, program) = compiled(&Writer::program(seed)).expect("it is read");
        for index in 0..program.points.len() {
            let point = PointId(index as u32);
            let name = fences::name(&program, &source, point);
            let place = name.parse().expect("a name is a place");
            assert_eq!(fences::find(&program, &source, &place), Ok(point), "{name}");
        }
    }
}

fn sites(program: &Program) -> Vec<(PointId, FenceSite)> {
    let points = program.points.iter().enumerate();
    let sites = points.flat_map(|(index, point)| {
        let id = PointId(index as u32);
        point.sites.iter().map(move |site| (id, *site))
    });
    sites.collect()
}

fn typed(source: &Source, chosen: &[(PointId, FenceSite)]) -> String {
    let mut fences: Vec<_> = chosen
        .iter()
        .map(|(_, site)| (*site, FenceKind::Full))
        .collect();
    fences.sort();
    fences.dedup();
    let files = insert_fences(source, &fences);
    files[0].text.clone()
}
