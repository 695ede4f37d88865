//! Litmus tests: their verdicts against what is known by hand, and their final states
//! against an interpreter of its own.

use fencesmith::import::litmus::{Test, read};
use fencesmith::lang::parser::parse;
use fencesmith::lang::unparse;
use fencesmith::limits::{Limits, Monitor};
use fencesmith::litmus::{Finals, LitmusOptions, Runnable};
use fencesmith::memory::{Atomics, Model};
use fencesmith::source::Source;
use fencesmith::verify::Verdict;
use fencesmith_testing::programs::MODELS;
use fencesmith_testing::random::Random;
use fencesmith_testing::{foreign, programs};
use std::collections::{BTreeMap, BTreeSet, HashSet};

fn test(source: &Source) -> Test {
    read(source).unwrap_or_else(|errors| {
        let errors = fencesmith::diagnostic::render(source, &errors, false);
        panic!("{errors}\n{}", source.text())
    })
}

fn finals(test: &Test, model: Model) -> Finals {
    let options = LitmusOptions {
        model,
        atomics: Atomics::DrainPlace,
        bound: 4,
        limits: Limits::default(),
    };
    let runnable = Runnable::new(test.clone()).expect("a test is a program");
    runnable.run(&options, &Monitor::default())
}

/// The first letters of the verdicts of all models.
fn verdicts(test: &Test) -> String {
    let letter = |model| finals(test, model).verdict.to_string()[..1].to_string();
    MODELS.map(letter).join(" ")
}

/// The table of what is known: name, verdicts, reason.
fn expected() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(foreign::path("litmus/expected.txt"));
    let text = text.expect("the table can be read");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(words.len() > 5, "a row has a reason: {line}");
        (words[0].to_string(), words[1..4].join(" "))
    });
    rows.collect()
}

#[test]
fn verdicts_are_those_of_the_table() {
    let expected = expected();
    let files = foreign::files("litmus", "litmus");
    assert_eq!(files.len(), expected.len(), "every file is in the table");
    assert!(files.len() >= 70);
    for file in files {
        let test = test(&foreign::source(&file));
        let stem = file.file_stem().map(|stem| stem.display().to_string());
        assert_eq!(Some(test.name.clone()), stem);
        assert_eq!(verdicts(&test), expected[&test.name], "{}", test.name);
    }
}

#[test]
fn stronger_models_have_fewer_final_states() {
    for file in foreign::files("litmus", "litmus") {
        included(&test(&foreign::source(&file)));
    }
    for seed in 0..150 {
        included(&test(&random(seed).source()));
    }
}

/// SC ⊆ TSO ⊆ PSO, in final states.
fn included(test: &Test) {
    let states = MODELS.map(|model| {
        let finals = finals(test, model);
        assert_eq!(finals.incomplete, None, "{}", test.name);
        finals.states.into_iter().collect::<BTreeSet<_>>()
    });
    assert!(states[0].is_subset(&states[1]), "SC ⊆ TSO: {}", test.name);
    assert!(states[1].is_subset(&states[2]), "TSO ⊆ PSO: {}", test.name);
}

/// In `verify` the property of a test is that its outcome is not observed.
#[test]
fn verification_agrees_with_the_final_states() {
    for file in foreign::files("litmus", "litmus") {
        let test = test(&foreign::source(&file));
        let program = foreign::program(&test.ast);
        for model in MODELS {
            let answer = programs::answer(&program, &programs::exact(model, 8));
            let bad = matches!(answer.verdict, Verdict::Violated);
            let verdict = finals(&test, model).verdict.to_string();
            let expected = verdict == "Allowed" || verdict == "Violated";
            assert_eq!(bad, expected, "{} under {model}", test.name);
        }
    }
}

/// The shapes that the suite also has in the native language.
#[test]
fn the_suite_gives_the_same_verdicts() {
    let mut compared = 0;
    for (name, expected) in expected() {
        let native = format!("litmus/{}", name.to_lowercase());
        if !programs::path(&native).exists() {
            continue;
        }
        let program = programs::program(&programs::source(&native));
        let letter = |model| match programs::answer(
            &program.fenced(&Default::default()),
            &programs::exact(model, 4),
        )
        .verdict
        {
            Verdict::Correct => "F",
            Verdict::Violated => "A",
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(MODELS.map(letter).join(" "), expected, "{name}");
        compared += 1;
    }
    assert!(compared >= 30, "{compared}");
}

/// Printed in the native language and read again, a test has the same final states.
#[test]
fn converted_tests_have_the_same_final_states() {
    for (_, source) in foreign::all() {
        if source.name().ends_with(".litmus") {
            same_when_converted(&test(&source));
        }
    }
    for seed in 1000..1080 {
        same_when_converted(&test(&random(seed).source()));
    }
}

fn same_when_converted(test: &Test) {
    let text = unparse(&test.ast, &[]);
    let ast = parse(&Source::new("converted.fen", text.clone())).expect(&text);
    assert_eq!(unparse(&ast, &[]), text);
    let converted = Test {
        ast,
        ..test.clone()
    };
    for model in MODELS {
        assert_eq!(finals(test, model), finals(&converted, model), "{text}");
    }
}

#[test]
fn random_tests_against_an_interpreter() {
    for seed in 0..250 {
        let random = random(seed);
        let source = random.source();
        let test = test(&source);
        for model in MODELS {
            let ours: BTreeSet<Vec<i64>> = finals(&test, model).states.into_iter().collect();
            let theirs = random.finals(model);
            assert_eq!(ours, theirs, "{model}\n{}", source.text());
        }
    }
}

/// Registers and locations of random tests.
const REGISTERS: [&str; 2] = ["EAX", "EBX"];
const LOCATIONS: [&str; 3] = ["x", "y", "z"];

#[derive(Debug, Clone, Copy)]
enum Op {
    Store(usize, i64),
    StoreRegister(usize, usize),
    Load(usize, usize),
    Set(usize, i64),
    Add(usize, i64),
    Mfence,
    Sfence,
    Lfence,
    Xchg(usize, usize),
    Xadd(usize, usize),
    LockInc(usize),
    Inc(usize),
    Cmpxchg(usize),
    /// Skips the next instruction if the register has the value.
    SkipIf(usize, i64),
}

struct RandomTest {
    code: Vec<Vec<Op>>,
    att: bool,
}

fn random(seed: u64) -> RandomTest {
    let mut random = Random(seed);
    let processes = 2 + random.below(2);
    let code = (0..processes).map(|_| {
        let length = 2 + random.below(if processes == 2 { 4 } else { 2 });
        let ops = (0..length).map(|_| {
            let (x, r) = (random.below(3), random.below(2));
            let value = 1 + random.below(2) as i64;
            match random.below(24) {
                0..=5 => Op::Store(x, value),
                6 => Op::StoreRegister(x, r),
                7..=12 => Op::Load(r, x),
                13 => Op::Set(r, value),
                14 => Op::Add(r, value - 2),
                15 => Op::Mfence,
                16 => Op::Sfence,
                17 => Op::Lfence,
                18 => Op::Xchg(r, x),
                19 => Op::Xadd(r, x),
                20 => Op::LockInc(x),
                21 => Op::Inc(x),
                22 => Op::Cmpxchg(x),
                _ => Op::SkipIf(r, value - 1),
            }
        });
        ops.collect()
    });
    let code = code.collect();
    let att = random.below(3) == 0;
    RandomTest { code, att }
}

impl RandomTest {
    /// The test as a file, in one of the two notations.
    fn source(&self) -> Source {
        let columns: Vec<Vec<String>> = self.code.iter().map(|ops| self.column(ops)).collect();
        let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
        let names: Vec<String> = (0..columns.len()).map(|p| format!("P{p}")).collect();
        let arch = if self.att { "X86_64" } else { "X86" };
        let mut text = format!(
            "{arch} random\n{{ x=0; [y]=0; }}\n {} ;\n",
            names.join(" | ")
        );
        for row in 0..rows {
            let cells = columns
                .iter()
                .map(|column| column.get(row).map_or("", |c| c));
            text += &format!(" {} ;\n", cells.collect::<Vec<_>>().join(" | "));
        }
        let registers =
            (0..columns.len()).flat_map(|p| REGISTERS.map(|register| format!("{p}:{register};")));
        text += &format!("locations [{} x; y; z;]\n", registers.collect::<String>());
        text += "exists (true)\n";
        Source::new("random.litmus", text)
    }

    fn column(&self, ops: &[Op]) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut label = None;
        for (at, op) in ops.iter().enumerate() {
            let lines = self.lines(op, at);
            let landing = label.take();
            out.extend(lines);
            // The label of a jump stands behind the instruction that it skips.
            if let Some(at) = landing {
                out.push(format!("L{at}: NOP"));
            }
            if matches!(op, Op::SkipIf(..)) {
                label = Some(at);
            }
        }
        out.extend(label.map(|at| format!("L{at}:")));
        out
    }

    fn lines(&self, op: &Op, at: usize) -> Vec<String> {
        let r = |r: usize| match self.att {
            true => format!("%{}", REGISTERS[r].to_lowercase()),
            false => REGISTERS[r].to_string(),
        };
        let x = |x: usize| match self.att {
            true => format!("({})", LOCATIONS[x]),
            false => format!("[{}]", LOCATIONS[x]),
        };
        let two = |word: &str, to: String, from: String| match self.att {
            true => format!("{}l {from},{to}", word.to_lowercase()),
            false => format!("{word} {to},{from}"),
        };
        match *op {
            Op::Store(to, v) => vec![two("MOV", x(to), format!("${v}"))],
            Op::StoreRegister(to, from) => vec![two("MOV", x(to), r(from))],
            Op::Load(to, from) => vec![two("MOV", r(to), x(from))],
            Op::Set(to, v) => vec![two("MOV", r(to), format!("${v}"))],
            Op::Add(to, v) => vec![two("ADD", r(to), format!("${v}"))],
            Op::Mfence => vec!["MFENCE".to_string()],
            Op::Sfence => vec!["SFENCE".to_string()],
            Op::Lfence => vec!["LFENCE".to_string()],
            Op::Xchg(a, b) => vec![two("XCHG", x(b), r(a))],
            Op::Xadd(a, b) => vec![format!("LOCK {}", two("XADD", x(b), r(a)))],
            Op::LockInc(to) => vec![format!(
                "lock inc{} {}",
                if self.att { "l" } else { "" },
                x(to)
            )],
            Op::Inc(to) => vec![format!("INC{} {}", if self.att { "L" } else { "" }, x(to))],
            Op::Cmpxchg(to) => vec![format!("LOCK {}", two("CMPXCHG", x(to), r(1)))],
            Op::SkipIf(a, v) => vec![two("CMP", r(a), format!("${v}")), format!("JE L{at}")],
        }
    }

    /// All final states, by brute force: registers by process, then locations.
    fn finals(&self, model: Model) -> BTreeSet<Vec<i64>> {
        let start = State {
            memory: [0; 3],
            processes: vec![Process::default(); self.code.len()],
        };
        let mut seen = HashSet::from([start.clone()]);
        let mut work = vec![start];
        let mut finals = BTreeSet::new();
        while let Some(state) = work.pop() {
            let mut next = Vec::new();
            for p in 0..self.code.len() {
                state.flushes(p, model, &mut next);
                if state.processes[p].at < self.code[p].len() {
                    state.execute(p, &self.code[p], model, &mut next);
                }
            }
            let ended = |(p, code): (&Process, &Vec<Op>)| p.at == code.len() && p.buffer.is_empty();
            if state.processes.iter().zip(&self.code).all(ended) {
                let registers = state.processes.iter().flat_map(|p| p.registers);
                finals.insert(registers.chain(state.memory).collect());
            }
            work.extend(next.into_iter().filter(|state| seen.insert(state.clone())));
        }
        finals
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    memory: [i64; 3],
    processes: Vec<Process>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Process {
    at: usize,
    registers: [i64; 2],
    /// Oldest first. A store fence is a bar between stores.
    buffer: Vec<Pending>,
    /// The value that an unlocked increment has read.
    half: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Pending {
    Write(usize, i64),
    Bar,
}

impl State {
    fn flushes(&self, p: usize, model: Model, next: &mut Vec<State>) {
        let buffer = &self.processes[p].buffer;
        for (index, pending) in buffer.iter().enumerate() {
            let Pending::Write(x, value) = *pending else {
                break;
            };
            let before = &buffer[..index];
            let overtakes = before
                .iter()
                .any(|b| matches!(b, Pending::Write(y, _) if *y == x));
            if overtakes || (index > 0 && model == Model::Tso) {
                continue;
            }
            let mut after = self.clone();
            after.memory[x] = value;
            let buffer = &mut after.processes[p].buffer;
            buffer.remove(index);
            while buffer.first() == Some(&Pending::Bar) {
                buffer.remove(0);
            }
            // A bar at the end stays only as long as something is pending before it.
            next.push(after);
        }
    }

    fn execute(&self, p: usize, code: &[Op], model: Model, next: &mut Vec<State>) {
        let me = &self.processes[p];
        let mut after = self.clone();
        after.processes[p].at += 1;
        let read = |x: usize| {
            let own = me.buffer.iter().rev().find_map(|b| match b {
                Pending::Write(y, value) if *y == x => Some(*value),
                _ => None,
            });
            own.unwrap_or(self.memory[x])
        };
        // What a locked access waits for.
        let free = |x: usize| match model {
            Model::Pso => !me.buffer.iter().any(|b| match b {
                Pending::Write(y, _) => *y == x,
                Pending::Bar => true,
            }),
            _ => me.buffer.is_empty(),
        };
        let write = |after: &mut State, x: usize, value: i64| match model {
            Model::Sc => after.memory[x] = value,
            _ => after.processes[p].buffer.push(Pending::Write(x, value)),
        };
        let registers = &mut after.processes[p].registers;
        match code[me.at] {
            Op::Store(x, value) => write(&mut after, x, value),
            Op::StoreRegister(x, r) => write(&mut after, x, me.registers[r]),
            Op::Load(r, x) => registers[r] = read(x),
            Op::Set(r, value) => registers[r] = value,
            Op::Add(r, value) => registers[r] += value,
            Op::Lfence => {}
            Op::Mfence if !me.buffer.is_empty() => return,
            Op::Mfence => {}
            Op::Sfence => {
                let buffer = &mut after.processes[p].buffer;
                if model == Model::Pso && matches!(buffer.last(), Some(Pending::Write(..))) {
                    buffer.push(Pending::Bar);
                }
            }
            Op::Xchg(_, x) | Op::Xadd(_, x) | Op::LockInc(x) | Op::Cmpxchg(x) if !free(x) => return,
            Op::Xchg(r, x) => {
                registers[r] = self.memory[x];
                after.memory[x] = me.registers[r];
            }
            Op::Xadd(r, x) => {
                registers[r] = self.memory[x];
                after.memory[x] += me.registers[r];
            }
            Op::LockInc(x) => after.memory[x] += 1,
            Op::Cmpxchg(x) if self.memory[x] == me.registers[0] => {
                after.memory[x] = me.registers[1];
            }
            Op::Cmpxchg(x) => registers[0] = self.memory[x],
            Op::Inc(x) => match me.half {
                None => {
                    after.processes[p].at -= 1;
                    after.processes[p].half = Some(read(x));
                }
                Some(value) => {
                    after.processes[p].half = None;
                    write(&mut after, x, value + 1);
                }
            },
            Op::SkipIf(r, value) => {
                let skip = me.registers[r] == value && me.at + 1 < code.len();
                after.processes[p].at += usize::from(skip);
            }
        }
        next.push(after);
    }
}
