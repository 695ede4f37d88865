//! The oracle against what is known without it.

use fencesmith::diagnostic;
use fencesmith::lang::ast::Ast;
use fencesmith::lang::parser;
use fencesmith::lang::resolve::resolve;
use fencesmith::source::Source;
use fencesmith_testing::oracle::generate::{Options, program};
use fencesmith_testing::oracle::interpreter::{
    Answer, Atomics, Model, Observation, Setup, Violation, explore, shortest_violation,
};
use std::collections::BTreeSet;

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

fn parse(text: &str) -> Ast {
    let source = Source::new("test", text);
    let checked = parser::parse(&source).and_then(|ast| {
        resolve(&ast)?;
        Ok(ast)
    });
    checked.unwrap_or_else(|errors| {
        let errors = diagnostic::render(&source, &errors, false);
        panic!("{errors}\n{text}")
    })
}

fn setup(model: Model) -> Setup {
    Setup {
        model,
        bound: 4,
        atomics: Atomics::DrainPlace,
        max_states: 1_000_000,
    }
}

fn run(text: &str, model: Model) -> Answer {
    let answer = explore(&parse(text), &setup(model));
    assert!(answer.complete, "{text}");
    answer
}

/// Whether something goes wrong under SC, TSO and PSO.
fn verdicts(text: &str) -> [bool; 3] {
    MODELS.map(|model| {
        let answer = run(text, model);
        let violated = !answer.violations.is_empty();
        assert!(
            violated || !answer.waited_for_room,
            "{model:?}: no proof\n{text}"
        );
        let nearest = shortest_violation(&parse(text), &setup(model));
        assert_eq!(nearest.is_some(), violated);
        violated
    })
}

#[track_caller]
fn check(text: &str, expected: [bool; 3]) {
    assert_eq!(verdicts(text), expected, "{text}");
}

/// A litmus test: one text per process, `r` and `s` as registers, and the final states
/// that are asked for. The processes are called `a`, `b`, `c` and `d`.
fn litmus(processes: &[&str], exists: &str) -> String {
    let mut text = "shared int[0..=2] x, y;\n".to_string();
    for (name, body) in ["a", "b", "c", "d"].iter().zip(processes) {
        text += &format!("process {name} {{ int[0..=2] r, s; {body} }}\n");
    }
    text + &format!("final !({exists});\n")
}

const F: bool = false;
const A: bool = true;

#[test]
fn known_litmus_tests() {
    let table: [(&[&str], &str, [bool; 3]); 18] = [
        // SB
        (
            &["store x = 1; load r = y;", "store y = 1; load r = x;"],
            "a.r == 0 && b.r == 0",
            [F, A, A],
        ),
        // SB with fences: full, store-load, store-store, on one side only
        (
            &[
                "store x = 1; fence; load r = y;",
                "store y = 1; fence; load r = x;",
            ],
            "a.r == 0 && b.r == 0",
            [F, F, F],
        ),
        (
            &[
                "store x = 1; fence sl; load r = y;",
                "store y = 1; fence sl; load r = x;",
            ],
            "a.r == 0 && b.r == 0",
            [F, F, F],
        ),
        (
            &[
                "store x = 1; fence ss; load r = y;",
                "store y = 1; fence ss; load r = x;",
            ],
            "a.r == 0 && b.r == 0",
            [F, A, A],
        ),
        (
            &[
                "store x = 1; fence; load r = y;",
                "store y = 1; load r = x;",
            ],
            "a.r == 0 && b.r == 0",
            [F, A, A],
        ),
        // SB with reads of the own store first
        (
            &[
                "store x = 1; load s = x; load r = y;",
                "store y = 1; load s = y; load r = x;",
            ],
            "a.r == 0 && a.s == 1 && b.r == 0 && b.s == 1",
            [F, A, A],
        ),
        // MP, bare, with a store-store fence, with a store-load fence
        (
            &["store x = 1; store y = 1;", "load r = y; load s = x;"],
            "b.r == 1 && b.s == 0",
            [F, F, A],
        ),
        (
            &[
                "store x = 1; fence ss; store y = 1;",
                "load r = y; load s = x;",
            ],
            "b.r == 1 && b.s == 0",
            [F, F, F],
        ),
        (
            &[
                "store x = 1; fence sl; store y = 1;",
                "load r = y; load s = x;",
            ],
            "b.r == 1 && b.s == 0",
            [F, F, A],
        ),
        // LB
        (
            &["load r = x; store y = 1;", "load r = y; store x = 1;"],
            "a.r == 1 && b.r == 1",
            [F, F, F],
        ),
        // R
        (
            &["store x = 1; store y = 1;", "store y = 2; load r = x;"],
            "y == 2 && b.r == 0",
            [F, A, A],
        ),
        // S
        (
            &["store x = 2; store y = 1;", "load r = y; store x = 1;"],
            "x == 2 && b.r == 1",
            [F, F, A],
        ),
        // 2+2W
        (
            &["store x = 1; store y = 2;", "store y = 1; store x = 2;"],
            "x == 1 && y == 1",
            [F, F, A],
        ),
        (
            &[
                "store x = 1; fence ss; store y = 2;",
                "store y = 1; fence ss; store x = 2;",
            ],
            "x == 1 && y == 1",
            [F, F, F],
        ),
        // IRIW
        (
            &[
                "store x = 1;",
                "store y = 1;",
                "load r = x; load s = y;",
                "load r = y; load s = x;",
            ],
            "c.r == 1 && c.s == 0 && d.r == 1 && d.s == 0",
            [F, F, F],
        ),
        // CoRR
        (
            &["store x = 1;", "load r = x; load s = x;"],
            "b.r == 1 && b.s == 0",
            [F, F, F],
        ),
        // CoWR: a load sees the newest of the own stores, or something newer
        (
            &["store x = 1; store x = 2; load r = x;", "load r = x;"],
            "a.r != 2",
            [F, F, F],
        ),
        // CoWW: stores to one place stay in order
        (
            &["store x = 1; store x = 2;", "load r = x; load s = x;"],
            "x == 1 || b.r == 2 && b.s == 1",
            [F, F, F],
        ),
    ];
    for (processes, exists, expected) in table {
        check(&litmus(processes, exists), expected);
    }
}

/// Several store-store fences may be pending at once, and each holds back what follows it.
#[test]
fn pending_fences_add_up() {
    let chain = "shared bool x, y, z;
        process p { store x = 1; fence ss; store y = 1; fence ss; store z = 1; }
        forbid y == 1 && x == 0 || z == 1 && y == 0;";
    check(chain, [F, F, F]);
    // The same fence twice, with nothing between, and one that only looks like it helps.
    let idle = "shared bool x, y;
        process p { fence ss; fence sl; store x = 1; fence sl; fence sl; store y = 1; }
        forbid y == 1 && x == 0;";
    check(idle, [F, F, A]);
    // A store after the store-load fence may stay pending while the load goes on.
    let later = "shared bool x, y, z;
        process p { bool r; store x = 1; fence sl; store y = 1; load r = z; done: skip; }
        forbid p at done && x == 0;";
    check(later, [F, F, F]);
    check(&later.replace("x == 0;", "y == 0;"), [F, A, A]);
    // Fences without stores between them do not pile up.
    let loops = "shared bool x; process p { store x = 1; while (true) { fence sl; fence ss; } }
        forbid x == 2;";
    check(loops, [F, F, F]);
    // Only the stores before the last store-load fence matter, and they all do.
    let twice = "shared bool x, y, z;
        process p { bool r; store x = 1; fence sl; store y = 1; fence sl; load r = z; done: skip; }
        forbid p at done && (x == 0 || y == 0);";
    check(twice, [F, F, F]);
}

#[test]
fn peterson() {
    let text = "
        shared int[0..=1] turn = 0;
        shared bool ent[2];
        process p[i in 0..=1] {
            bool e;
            int[0..=1] t;
            while (true) {
                store ent[i] = true;
                FLAG
                store turn = 1 - i;
                TURN
                do {
                    load e = ent[1 - i];
                    load t = turn;
                } while (e && t == 1 - i);
            critical:
                skip;
                store ent[i] = false;
            }
        }
        mutex critical;";
    // The loop fills any buffer, so only violations and SC are final: for the fenced ones
    // the bound is part of the question.
    let violated = |flag: &str, turn: &str| {
        let ast = parse(&text.replace("FLAG", flag).replace("TURN", turn));
        MODELS.map(|model| {
            let setup = Setup {
                bound: 2,
                ..setup(model)
            };
            let answer = explore(&ast, &setup);
            assert!(answer.complete && !answer.deadlock);
            !answer.violations.is_empty()
        })
    };
    assert_eq!(violated("", ""), [F, A, A]);
    assert_eq!(violated("", "fence;"), [F, F, A]);
    assert_eq!(violated("fence;", "fence;"), [F, F, F]);
    assert_eq!(violated("fence ss;", "fence sl;"), [F, F, F]);
    assert_eq!(violated("fence;", ""), [F, A, A]);
}

#[test]
fn locks_from_atomics() {
    let lock = |acquire: &str| {
        format!(
            "shared bool l;
             process p[i in 0..=1] {{
                 bool r;
                 {acquire}
                 critical: skip;
                 store l = 0;
             }}
             mutex critical;"
        )
    };
    check(&lock("do cas r = l, 0, 1; while (!r);"), [F, F, F]);
    check(&lock("do swap r = l, 1; while (r);"), [F, F, F]);
    check(
        &lock("atomic { load r = l; assume (!r); store l = 1; }"),
        [F, F, F],
    );
    check(&lock("load r = l; assume (!r); store l = 1;"), [A, A, A]);
    check(&lock("skip;"), [A, A, A]);
    let count = "shared int[0..=4] n;
        process p[i in 0..=1] { int[0..=4] r; add r = n, 1; add r = n, 1; }
        final n == 4;";
    check(count, [F, F, F]);
}

#[test]
fn what_atomics_wait_for() {
    let text = "shared bool x, l;
        process p { bool r; store x = 1; cas r = l, 0, 1; done: skip; }
        forbid p at done && x == 0;";
    check(text, [F, F, A]);
    let all = Setup {
        atomics: Atomics::DrainAll,
        ..setup(Model::Pso)
    };
    assert!(explore(&parse(text), &all).violations.is_empty());
    // A store-store fence before, or an atomic block, makes it wait as well.
    check(&text.replace("cas r", "fence ss; cas r"), [F, F, F]);
    check(&text.replace("cas r", "fence sl; cas r"), [F, F, F]);
    check(
        &text.replace("cas r = l, 0, 1;", "atomic { load r = l; }"),
        [F, F, F],
    );
    // The own buffer of the place is always empty first.
    let own = "shared int[0..=2] x;
        process p { int[0..=2] r; store x = 1; swap r = x, 2; assert (r == 1); }
        final x == 2;";
    check(own, [F, F, F]);
}

/// The one violation of a program under SC.
fn violation(text: &str) -> Option<Violation> {
    let violations = run(text, Model::Sc).violations;
    assert!(violations.len() <= 1, "{violations:?}\n{text}");
    violations.into_iter().next()
}

#[test]
fn faults_and_assertions() {
    let ways = [
        ("x = x + 2;", A),
        ("x = 1 / x;", A),
        ("x = 1 % x;", A),
        ("x = x && 1 / x;", F),
        ("x = !x || 1 / x;", F),
        ("x = x ? 1 / x : 1;", F),
        ("big = 2147483647; big = (big + 1) - 1;", A),
        ("big = -2147483647 - 1; big = -big;", A),
        ("big = -2147483647 - 1; big = big / -1;", A),
        (
            "big = -1 % 3; assert (big == 2); big = -1 / 3; assert (big == -1);",
            F,
        ),
        (
            "big = 7 / -2; assert (big == -3); big = -7 / -2; assert (big == 4);",
            F,
        ),
        ("store a[x + 2] = 0;", A),
        ("load x = a[x - 1];", A),
        ("store a[1] = 2;", A),
        ("store c = 3; load x = c;", A),
        ("add x = c, -1;", A),
        ("swap x = c, 4;", A),
        ("cas x = c, 1, 4;", F),
        ("cas x = c, 0, 4;", A),
        ("big = 2; havoc x in 0..=big;", A),
        ("havoc x;", F),
        ("assume (1 / x);", A),
        ("if (1 / x) skip;", A),
        ("atomic { skip; x = 2; }", A),
    ];
    for (body, expected) in ways {
        let start = "shared bool a[2]; shared int[0..=3] c; process p { bool x; int big; ";
        let found = violation(&format!("{start}{body} }}"));
        let faulted = matches!(found, Some(Violation::Runtime(_)));
        assert_eq!(faulted, expected, "{body}: {found:?}");
        assert!(faulted || found.is_none(), "{body}: {found:?}");
    }
    let text = "process p { bool r; havoc r; assert (r); }";
    assert_eq!(violation(text), Some(Violation::Assertion(29)));
    assert_eq!(shortest_violation(&parse(text), &setup(Model::Sc)), Some(2));
    let blocked = "process p { bool r; atomic { havoc r; assume (r); assert (r); } assert (r); }";
    assert_eq!(violation(blocked), None);
}

#[test]
fn shortest_ways() {
    let depth = |text: &str, model| shortest_violation(&parse(text), &setup(model));
    let sb = litmus(
        &["store x = 1; load r = y;", "store y = 1; load r = x;"],
        "a.r == 0 && b.r == 0",
    );
    assert_eq!(depth(&sb, Model::Sc), None);
    assert_eq!(depth(&sb, Model::Tso), Some(6));
    let at_once = "shared bool x = *; process p { skip; } forbid x == 1;";
    assert_eq!(depth(at_once, Model::Pso), Some(0));
}

/// The labels that hold, in every order in which a lone process can pass them.
fn labels_seen(body: &str, labels: &[&str]) -> Vec<bool> {
    let holds = |label: &&str| {
        let text = format!("process p {{ bool r; {body} }} forbid p at {label};");
        !run(&text, Model::Sc).violations.is_empty()
    };
    labels.iter().map(holds).collect()
}

#[test]
fn where_labels_hold() {
    assert_eq!(labels_seen("L: M: skip;", &["L", "M"]), [A, A]);
    assert_eq!(
        labels_seen("goto M; L: skip; M: skip;", &["L", "M"]),
        [F, A]
    );
    assert_eq!(labels_seen("goto M; L: { M: skip; }", &["L", "M"]), [A, A]);
    assert_eq!(
        labels_seen("goto M; L: do M: skip; while (r);", &["L", "M"]),
        [A, A]
    );
    assert_eq!(
        labels_seen("goto M; L: while (true) { r = 1; M: skip; }", &["L"]),
        [A]
    );
    assert_eq!(labels_seen("skip; L: stop;", &["L"]), [F]);
    assert_eq!(labels_seen("skip; L: {}", &["L"]), [F]);
    assert_eq!(labels_seen("stop; L: skip;", &["L"]), [F]);
    assert_eq!(
        labels_seen("while (true) { break; L: skip; } M: skip;", &["L", "M"]),
        [F, A]
    );
    assert_eq!(
        labels_seen("do { continue; L: skip; } while (r); M: skip;", &["L", "M"]),
        [F, A]
    );
    // A label on a `do` holds where its body starts, not at its test.
    let text = "process p { int[0..=1] n; L: do { n = 1; M: skip; } while (n != 1); }
        forbid p at L && p.n == 1;";
    check(text, [F, F, F]);
    check(&text.replace("n != 1", "*"), [A, A, A]);
    // Any instance will do, unless one is named.
    let any = "process p[i in 0..=1] { if (i == 1) { L: skip; } } forbid p at L;";
    check(any, [A, A, A]);
    check(&any.replace("p at", "p[0] at"), [F, F, F]);
}

fn only_process(observation: &Observation) -> Option<BTreeSet<u32>> {
    let (name, _, next) = &observation.processes[0];
    assert_eq!(name, "p");
    next.clone()
}

#[test]
fn where_control_is() {
    // A choice is open until a branch is entered; jumps take no step.
    let text = "process p { either { skip; goto L; } or { assume (false); } stop; L: skip; }";
    let skips = [text.find("skip"), text.rfind("skip")].map(|at| at.unwrap() as u32);
    let assume = text.find("assume").unwrap() as u32;
    let answer = run(text, Model::Sc);
    let seen: BTreeSet<_> = answer.states.iter().map(only_process).collect();
    let expected = [
        Some(BTreeSet::from([skips[0], assume])),
        Some(BTreeSet::from([skips[1]])),
        None,
    ];
    assert_eq!(seen, BTreeSet::from(expected));
    assert!(!answer.deadlock);
    // An endless jump is a process that neither moves nor stops.
    let answer = run("process p { skip; L: goto L; }", Model::Sc);
    assert!(answer.deadlock);
    assert_eq!(answer.states.len(), 2);
    assert!(run("process p { assume (false); }", Model::Tso).deadlock);
    // So is an empty loop whose condition is a literal; a real test is a step.
    assert!(run("process p { while (true) {} }", Model::Tso).deadlock);
    assert!(!run("process p { bool r; while (!r) {} }", Model::Tso).deadlock);
}

#[test]
fn initial_values_and_bounds() {
    let text = "const N = 2;
        shared int[0..=N] x = *;
        shared bool a[2] = {1, 0};
        process p[i in 1..=2] { int[0..=1] r = *; int s = i; skip; }";
    let answer = run(text, Model::Pso);
    // Three values of x, two of each r, and two positions of each process.
    assert_eq!(answer.states.len(), 3 * 2 * 2 * 4);
    let first = answer.states.first().unwrap();
    assert_eq!(first.memory["a[0]"], 1);
    assert_eq!(first.memory["a[1]"], 0);
    assert_eq!(first.processes[1].0, "p[2]");
    assert_eq!(first.processes[1].1[1], ("s".to_string(), 2));
    let waits = |text: &str, model, bound| {
        let setup = Setup {
            bound,
            ..setup(model)
        };
        explore(&parse(text), &setup).waited_for_room
    };
    let two = "shared bool x, y; process p { store x = 1; store y = 1; }";
    assert!(waits(two, Model::Tso, 1));
    assert!(!waits(two, Model::Tso, 2));
    assert!(!waits(two, Model::Pso, 1));
    assert!(!waits(two, Model::Sc, 0));
}

#[test]
fn random_programs_are_well_formed() {
    for bits in 0..16 {
        let options = Options {
            straight_line: bits & 1 != 0,
            with_ss_sl: bits & 2 != 0,
            with_chains: bits & 2 != 0,
            with_atomics: bits & 4 != 0,
            with_loops: bits & 8 != 0,
            max_processes: 2 + bits % 3 % 2,
        };
        for seed in 0..200 {
            let text = program(seed, &options);
            parse(&text);
            assert_eq!(text, program(seed, &options));
            let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
            assert!(options.with_ss_sl || !has(&["fence s"]), "{text}");
            assert!(
                options.with_atomics || !has(&["cas ", "swap ", "add ", "atomic "]),
                "{text}"
            );
            assert!(
                options.with_loops || !has(&["while ", "do ", "goto L"]),
                "{text}"
            );
            assert!(
                !options.straight_line || !has(&["if ", "either ", "goto ", "while "]),
                "{text}"
            );
        }
    }
}

fn bounded(model: Model, bound: usize) -> Setup {
    Setup {
        model,
        bound,
        atomics: Atomics::DrainPlace,
        max_states: 60_000,
    }
}

/// A stronger model, a smaller bound and stricter atomics only take behaviours away.
#[test]
fn models_are_nested() {
    let straight = Options {
        straight_line: true,
        with_atomics: false,
        ..Options::default()
    };
    let mut compared = 0;
    for seed in 0..100 {
        for options in [&straight, &Options::default()] {
            let text = program(seed, options);
            let ast = parse(&text);
            let drain_all = Setup {
                atomics: Atomics::DrainAll,
                ..bounded(Model::Pso, 1)
            };
            let answers = [
                explore(&ast, &bounded(Model::Sc, 0)),
                explore(&ast, &bounded(Model::Tso, 1)),
                explore(&ast, &drain_all),
                explore(&ast, &bounded(Model::Pso, 1)),
                explore(&ast, &bounded(Model::Pso, 2)),
            ];
            for pair in answers.windows(2) {
                if pair[0].complete && pair[1].complete {
                    compared += 1;
                    assert!(
                        pair[0].states.is_subset(&pair[1].states),
                        "seed {seed}\n{text}"
                    );
                    assert!(
                        pair[0].violations.is_subset(&pair[1].violations),
                        "seed {seed}\n{text}"
                    );
                }
            }
        }
    }
    assert!(compared > 700, "only {compared} comparisons");
}

/// The random programs are worth running: small, varied, and neither always right nor
/// always wrong.
#[test]
fn random_programs_are_useful() {
    let count = 300;
    let [
        mut complete,
        mut relaxed,
        mut faults,
        mut correct,
        mut deadlocks,
    ] = [0; 5];
    for seed in 0..count {
        let ast = parse(&program(seed, &Options::default()));
        let pso = explore(&ast, &bounded(Model::Pso, 2));
        let sc = explore(&ast, &bounded(Model::Sc, 2));
        let faulted = |v: &Violation| matches!(v, Violation::Runtime(_));
        complete += pso.complete as u64;
        relaxed += (sc.states != pso.states) as u64;
        faults += pso.violations.iter().any(faulted) as u64;
        correct += pso.violations.is_empty() as u64;
        deadlocks += pso.deadlock as u64;
    }
    let figures = [complete, relaxed, faults, correct, deadlocks];
    println!("{figures:?} of {count}");
    assert!(complete * 100 > count * 95, "{figures:?}");
    assert!(relaxed * 100 > count * 30, "{figures:?}");
    assert!(faults * 100 < count * 30 && faults > 0, "{figures:?}");
    assert!(
        correct * 100 > count * 25 && correct * 100 < count * 75,
        "{figures:?}"
    );
}
