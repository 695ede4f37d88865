//! The real step relation and explorer against the naive oracle, on random programs.

use fencesmith::lang::ast::{Ast, Block, Condition, Item, Member, Stmt, StmtKind};
use fencesmith::memory;
use fencesmith::memory::step::At;
use fencesmith::memory::{Abstraction, Model};
use fencesmith::program::{Instr, Loc, Process, Program};
use fencesmith::property::Violation;
use fencesmith::space::{End, Snapshot};
use fencesmith_testing::cases::{Mode, case, families, run};
use fencesmith_testing::oracle::interpreter::{self as naive, Observation, Setup};
use fencesmith_testing::random::seeds;
use std::collections::{BTreeMap, BTreeSet, HashMap};

const BOUND: usize = 2;

/// Seeds per family of programs.
const SEEDS: u64 = 120;

const MODELS: [(Model, naive::Model); 3] = [
    (Model::Sc, naive::Model::Sc),
    (Model::Tso, naive::Model::Tso),
    (Model::Pso, naive::Model::Pso),
];

const ATOMICS: [(memory::Atomics, naive::Atomics); 2] = [
    (memory::Atomics::DrainPlace, naive::Atomics::DrainPlace),
    (memory::Atomics::DrainAll, naive::Atomics::DrainAll),
];

/// Where the statement begins that a condition belongs to.
fn tests_of(ast: &Ast) -> HashMap<u32, u32> {
    fn block(block: &Block, out: &mut HashMap<u32, u32>) {
        for member in &block.members {
            if let Member::Statement(statement) = member {
                walk(statement, out);
            }
        }
    }
    fn walk(statement: &Stmt, out: &mut HashMap<u32, u32>) {
        let mut test = |condition: &Condition| {
            let span = match condition {
                Condition::Expr(expr) => expr.span,
                Condition::Any(span) => *span,
            };
            out.insert(span.start, statement.span.start);
        };
        match &statement.kind {
            StmtKind::Labelled { statement, .. } => walk(statement, out),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                test(condition);
                walk(then, out);
                otherwise.iter().for_each(|s| walk(s, out));
            }
            StmtKind::While { condition, body } | StmtKind::DoWhile { body, condition } => {
                test(condition);
                walk(body, out);
            }
            StmtKind::For { body, .. } | StmtKind::Repeat { body, .. } => walk(body, out),
            StmtKind::Either(branches) => branches.iter().for_each(|b| block(b, out)),
            StmtKind::Nofence(b)
            | StmtKind::Atomic(b)
            | StmtKind::Block(b)
            | StmtKind::Expanded(b) => block(b, out),
            _ => {}
        }
    }
    let mut out = HashMap::new();
    for item in &ast.items {
        if let Item::Process(process) = item {
            block(&process.body, &mut out);
        }
    }
    out
}

/// The statements a process may execute next.
fn next(process: &Process, at: Loc, tests: &HashMap<u32, u32>) -> Option<BTreeSet<u32>> {
    if at == process.exit {
        return None;
    }
    let (mut seen, mut work, mut starts) = (BTreeSet::new(), vec![at], BTreeSet::new());
    while let Some(at) = work.pop() {
        if !seen.insert(at) {
            continue;
        }
        for (_, edge) in process.edges_from(at) {
            match edge.instr {
                Instr::Pass => work.push(edge.to),
                _ => {
                    let start = edge.span.start;
                    starts.insert(*tests.get(&start).unwrap_or(&start));
                }
            }
        }
    }
    Some(starts)
}

fn observe(program: &Program, tests: &HashMap<u32, u32>, state: &Snapshot) -> Observation {
    let names = program.places.iter().map(|place| place.name.clone());
    let memory: BTreeMap<String, i64> = names.zip(state.memory.iter().copied()).collect();
    let processes = program.processes.iter().zip(&state.configs);
    let processes = processes.map(|(process, config)| {
        let names = process.locals.iter().map(|local| local.name.clone());
        let locals = names.zip(config.locals.iter().copied());
        let named = |(name, _): &(String, i64)| !name.starts_with('%');
        let locals = locals.filter(named).collect();
        let At::Loc(at) = config.at else {
            panic!("failed states are not observed");
        };
        (process.name.clone(), locals, next(process, at, tests))
    });
    Observation {
        memory,
        processes: processes.collect(),
    }
}

/// A violation as the oracle speaks of it.
fn translate(violation: Violation, tests: &HashMap<u32, u32>) -> naive::Violation {
    match violation {
        Violation::Failure(_, failure) => {
            let start = failure.span.start;
            match failure.fault {
                None => naive::Violation::Assertion(start),
                Some(_) => naive::Violation::Runtime(*tests.get(&start).unwrap_or(&start)),
            }
        }
        Violation::Property(id) | Violation::Undefined(id, _) => {
            naive::Violation::Property(id.index())
        }
        Violation::Deadlock | Violation::Stuck | Violation::NotSequential => {
            panic!("it was not asked for")
        }
    }
}

#[test]
fn explores_exactly_the_states_of_the_oracle() {
    let mut compared = 0;
    let mut violated = 0;
    for options in families() {
        for seed in seeds(0, SEEDS) {
            let case = case(seed, &options);
            let program = case.program.fenced(&Default::default());
            let tests = tests_of(&case.ast);
            let (own_atomics, atomics) = ATOMICS[(seed % 2) as usize];
            for (own, model) in MODELS {
                let setup = Setup {
                    model,
                    bound: BOUND,
                    atomics,
                    max_states: 20_000,
                };
                let expected = naive::explore(&case.ast, &setup);
                if !expected.complete {
                    continue;
                }
                let exact = (own, Abstraction::Exact { bound: BOUND });
                let say = || format!("seed {seed}, {own}\n{}", case.text);

                let plain = Mode {
                    fuse: false,
                    reset_dead: false,
                    full: true,
                    threads: 1,
                    labelled: false,
                    max_states: None,
                };
                let found = run(&program, exact, own_atomics, &plain);
                assert_eq!(found.end, End::Exhausted);
                let states: BTreeSet<Observation> = found
                    .snapshots
                    .iter()
                    .map(|state| observe(&program, &tests, state))
                    .collect();
                let mut different = states.symmetric_difference(&expected.states);
                if let Some(state) = different.next() {
                    let ours = states.contains(state);
                    panic!("only ours: {ours}: {state:?}\n{}", say());
                }
                if model != naive::Model::Sc {
                    assert_eq!(found.no_room, expected.waited_for_room, "{}", say());
                }

                let nearest = naive::shortest_violation(&case.ast, &setup);
                let stepwise = Mode {
                    full: false,
                    ..plain
                };
                let found = run(&program, exact, own_atomics, &stepwise);
                let length = found.violation.as_ref().map(|(violation, trace)| {
                    let violation = translate(*violation, &tests);
                    assert!(expected.violations.contains(&violation), "{}", say());
                    trace.as_ref().expect("a trace").steps.len()
                });
                assert_eq!(length, nearest, "{}", say());

                for (fuse, reset_dead) in [(false, true), (true, false), (true, true)] {
                    let mode = Mode {
                        fuse,
                        reset_dead,
                        full: false,
                        threads: 2,
                        ..plain
                    };
                    let found = run(&program, exact, own_atomics, &mode);
                    let wrong = found.violation.is_some();
                    assert_eq!(wrong, nearest.is_some(), "fuse {fuse}, {}", say());
                }
                compared += 1;
                violated += usize::from(nearest.is_some());
            }
        }
    }
    println!("{compared} comparisons, {violated} violated");
    assert!(compared > 960 && violated > 144 && violated < compared - 144);
}
