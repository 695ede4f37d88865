//! How long buffers get, against searches of all states with bounded buffers.

use fencesmith::lang::ast::{Block, Condition, Expr, ExprKind, Item, Member, Stmt, StmtKind};
use fencesmith::lang::unparse;
use fencesmith::limits::{Limits, Monitor};
use fencesmith::memory::{Abstraction, Atomics, Model, Semantics};
use fencesmith::occupancy::{Length, Occupancy, OccupancyOptions, Queue, occupancy};
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::space::{End, Goal, Search, Snapshot, Standstill, explore};
use fencesmith_testing::cases::{case, families, template_case};
use fencesmith_testing::oracle::generate::Options;
use fencesmith_testing::programs;
use fencesmith_testing::random::seeds;
use rayon::prelude::*;

const MOST_STATES: u64 = 40_000;

fn semantics(model: Model, bound: usize, atomics: Atomics) -> Semantics {
    Semantics {
        atomics,
        ..Semantics::new(model, Abstraction::Exact { bound })
    }
}

fn limits() -> Limits {
    Limits {
        max_states: Some(MOST_STATES),
        ..Limits::default()
    }
}

fn asked(program: &Program, model: Model, atomics: Atomics) -> Occupancy {
    let options = OccupancyOptions {
        semantics: semantics(model, 1, atomics),
        most: 6,
        limits: limits(),
    };
    occupancy(program, &options, &Monitor::default())
}

/// All states with bounded buffers, and whether a store had to wait; none if they are too many.
fn states(program: &Program, semantics: Semantics) -> Option<(Vec<Snapshot>, bool)> {
    let stepper = semantics.stepper(program);
    let found = explore(&Search {
        stepper: &stepper,
        goal: Goal::Snapshots,
        standstill: Standstill::Ignored,
        limits: &limits(),
        monitor: &Monitor::default(),
        threads: 1,
    });
    (found.end == End::Exhausted).then_some((found.snapshots, found.no_room))
}

fn at_most(length: &Length) -> usize {
    match length {
        Length::Exactly(most) => *most,
        Length::Unbounded(_) | Length::Unknown { .. } => usize::MAX,
    }
}

fn longest(states: &[Snapshot], queue: Queue) -> usize {
    let length = |state: &Snapshot| {
        let stores = state.configs[queue.process.index()].buffers.ordered();
        let own = stores.filter(|entry| queue.place.is_none_or(|place| place == entry.place));
        own.count()
    };
    states.iter().map(length).max().unwrap_or(0)
}

/// What was compared: bounded answers, unbounded ones, and those that are not known.
type Tally = [usize; 3];

/// Compares an answer with the states of the exact model. States in which a statement has failed
/// are not among those, so that a bounded answer may be larger by what only they have.
fn compare(text: &str, program: &Program, model: Model, atomics: Atomics) -> Tally {
    let answer = asked(program, model, atomics);
    let what = || format!("{model} {atomics}\n{answer:?}\n{text}");
    let mut tally = [0; 3];
    if let Some(most) = answer.longest() {
        tally[0] += 1;
        // A store that would fail takes up no room, but waits for it.
        let bound = most + 1;
        if let Some((found, no_room)) = states(program, semantics(model, bound, atomics)) {
            assert!(!no_room, "a longer buffer than {most} occurs\n{}", what());
            for (queue, length) in &answer.queues {
                let seen = longest(&found, *queue);
                assert!(at_most(length) >= seen, "{queue:?}: {seen}\n{}", what());
            }
        }
        if most > 1
            && let Some((_, no_room)) = states(program, semantics(model, most - 1, atomics))
        {
            assert!(no_room, "no buffer as long as {most} occurs\n{}", what());
        }
        return tally;
    }
    for bound in 1..=3 {
        let Some((found, _)) = states(program, semantics(model, bound, atomics)) else {
            break;
        };
        for (queue, length) in &answer.queues {
            let seen = longest(&found, *queue);
            match length {
                Length::Unbounded(_) => assert_eq!(seen, bound, "{queue:?}\n{}", what()),
                Length::Exactly(most) => assert!(seen <= *most, "{queue:?}: {seen}\n{}", what()),
                Length::Unknown { at_most, .. } => {
                    assert!(at_most.is_none_or(|most| seen <= most), "{}", what());
                }
            }
        }
    }
    let unbounded = |(_, length): &(Queue, Length)| matches!(length, Length::Unbounded(_));
    match answer.queues.iter().any(unbounded) {
        true => tally[1] += 1,
        false => tally[2] += 1,
    }
    tally
}

fn add(a: Tally, b: Tally) -> Tally {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn both(text: &str, program: &Program, seed: u64) -> Tally {
    let program = program.fenced(&Default::default());
    let atomics = [Atomics::DrainPlace, Atomics::DrainAll][(seed % 2) as usize];
    let one = |model| compare(text, &program, model, atomics);
    add(one(Model::Tso), one(Model::Pso))
}

#[test]
fn random_programs() {
    let tally = seeds(0, 400).into_par_iter().map(|seed| {
        let options = &families()[(seed % 4) as usize];
        let case = case(seed, options);
        both(&case.text, &case.program, seed / 4)
    });
    let [bounded, unbounded, unknown] = tally.reduce(|| [0; 3], add);
    assert!(bounded > 400 && unbounded > 10, "{bounded} {unbounded}");
    assert!(unknown < 60, "{unknown} answers are not known");
}

/// Programs without loops, with one around the code of each process.
#[test]
fn random_loops() {
    let tally = seeds(0, 120).into_par_iter().map(|seed| {
        let options = Options {
            max_processes: 2,
            ..families()[1].clone()
        };
        let mut ast = case(seed, &options).ast;
        for item in &mut ast.items {
            if let Item::Process(process) = item {
                repeat(&mut process.body);
            }
        }
        let source = Source::new("loops.fen", unparse(&ast, &[]));
        both(source.text(), &programs::program(&source), seed)
    });
    let [bounded, unbounded, unknown] = tally.reduce(|| [0; 3], add);
    assert!(bounded > 20 && unbounded > 60, "{bounded} {unbounded}");
    assert!(unknown < 60, "{unknown} answers are not known");
}

/// Puts a loop around the statements of a block.
fn repeat(block: &mut Block) {
    let members = std::mem::take(&mut block.members).into_iter();
    let (statements, locals) = members.partition(|m| matches!(m, Member::Statement(_)));
    let span = block.span;
    let body = Block {
        members: statements,
        span,
    };
    let truth = ExprKind::Bool(true);
    let kind = StmtKind::While {
        condition: Condition::Expr(Expr { kind: truth, span }),
        body: Box::new(Stmt {
            kind: StmtKind::Block(body),
            span,
        }),
    };
    block.members = locals;
    block.members.push(Member::Statement(Stmt { kind, span }));
}

#[test]
fn random_templates() {
    let tally = seeds(0, 80).into_par_iter().map(|seed| {
        let case = template_case(seed);
        both(&case.text, &case.program, seed)
    });
    let [bounded, unbounded, unknown] = tally.reduce(|| [0; 3], add);
    assert!(bounded + unbounded > 100, "{bounded} {unbounded} {unknown}");
}

#[test]
fn the_suite() {
    programs::names(&["litmus", "queue", "lock"])
        .par_iter()
        .for_each(|name| {
            let source = programs::source(name);
            both(source.text(), &programs::program(&source), 0);
        });
}

#[track_caller]
fn check(text: &str, model: Model, expected: &[&str]) {
    let source = Source::new("test.fen", text);
    let program = programs::program(&source).fenced(&Default::default());
    let answer = asked(&program, model, Atomics::DrainPlace);
    let said = answer.queues.iter().map(|(_, length)| match length {
        Length::Exactly(length) => length.to_string(),
        Length::Unbounded(round) => {
            let at = |span: fencesmith::source::Span| source.position(span.start).to_string();
            format!("{} {}-{}", at(round.store), at(round.begin), at(round.end))
        }
        Length::Unknown { at_least, at_most } => format!("{at_least}..{at_most:?}"),
    });
    assert_eq!(said.collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn loops_that_drain_are_bounded() {
    let text = "shared bool x, y;
process p {
    while (true) { store x = true; store y = true; fence; }
}
process q { bool r; while (true) { store x = false; cas r = y, false, true; } }
";
    check(text, Model::Tso, &["2", "1"]);
    // Under PSO the cas waits for y alone.
    check(text, Model::Pso, &["1", "1", "5:36 5:36-5:53"]);
}

#[test]
fn one_way_without_a_drain_is_enough() {
    let text = "shared bool x;
process p {
    bool r;
    while (true) {
        store x = true;
        load r = x;
        if (r) skip; else fence;
    }
}
";
    check(text, Model::Tso, &["5:9 5:9-7:16"]);
    let never = text.replace("if (r) skip; else fence;", "if (r) fence;");
    check(&never, Model::Tso, &["1"]);
}

/// The number of rounds depends on values, which the automaton alone does not show.
#[test]
fn counted_loops_are_explored() {
    let text = "shared bool x;
process p {
    int[0..=4] i;
    while (i < 4) { store x = true; i = i + 1; }
}
process q { bool r; while (true) load r = x; }
";
    check(text, Model::Tso, &["4", "0"]);
    check(text, Model::Pso, &["4"]);
}

/// A process that waits for an answer each time has one store pending, although no fence says so,
/// and although another process never drains its buffer.
#[test]
fn handshakes_are_bounded_beside_an_unbounded_queue() {
    let text = "shared bool x, y, z;
process p {
    bool r; bool turn;
    while (true) {
        turn = !turn;
        store x = turn;
        do load r = y; while (r != turn);
    }
}
process q {
    bool r;
    while (true) {
        load r = x;
        store y = r;
        fence;
    }
}
process w { while (true) store z = true; }
";
    check(text, Model::Tso, &["1", "1", "18:26 18:26-18:26"]);
}

/// The process needs its own stores in memory to go on: it flushes them while it fills the queue.
#[test]
fn what_is_not_shown_is_not_known() {
    let text = "shared int[0..=3] x; shared bool ack;
process p {
    bool r; bool want;
    while (true) {
        want = !want;
        store x = want ? 1 : 2;
        store x = 3;
        store x = 3;
        do load r = ack; while (r != want);
    }
}
process q {
    int[0..=3] r; bool last;
    while (true) {
        load r = x;
        if (r == 1) { store ack = true; fence; }
        if (r == 2) { store ack = false; fence; }
    }
}
";
    // Whoever waits for the answer to its last message has flushed everything before it.
    check(text, Model::Tso, &["5", "1"]);
}

#[test]
fn limits_are_kept() {
    let source = programs::source("mutex/peterson");
    let program = programs::program(&source).fenced(&Default::default());
    let options = OccupancyOptions {
        semantics: semantics(Model::Pso, 1, Atomics::DrainPlace),
        most: 6,
        limits: Limits {
            max_states: Some(50),
            ..Limits::default()
        },
    };
    let answer = occupancy(&program, &options, &Monitor::default());
    assert!(answer.stopped.is_some());
    assert_eq!(answer.longest(), None);
}
