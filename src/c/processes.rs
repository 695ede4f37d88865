//! Processes: `main`, which is run as far as it creates threads, and the threads.
//!
//! `main` runs alone up to its first creation, and its steps are worked out one by one. It goes
//! on like that behind a creation as long as it touches nothing that another thread accesses:
//! such steps commute with those of all threads, and a thread that is created later may as
//! well have been created earlier and not have run. Threads that it creates after that wait
//! for their creation.

use super::Options;
use super::assemble::accessed;
use super::code::Code;
use super::lowering::{Creation, Lowering, Read};
use super::objects::{Knowledge, Objects};
use super::operand::Operand;
use super::positions::Preprocessed;
use super::types::{Number, Qualified, Structs, Type};
use crate::diagnostic::Diagnostic;
use crate::limits::Watch;
use crate::memory::step::{At, Config, Effect, Step};
use crate::memory::{Abstraction, Buffers, Model, Semantics};
use crate::program::{Expr, Initial, Instr, Label, Loc, Place, PlaceId, Process, Program, Value};
use crate::source::Span;
use lang_c::ast::TranslationUnit;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The most steps that `main` may take alone.
const ALONE: usize = 200_000;

/// The most threads.
const THREADS: u32 = 64;

/// Reads the program once: the program form, which counts only if nothing new was found out,
/// and what was.
pub fn program(
    text: &Preprocessed,
    unit: &TranslationUnit,
    options: &Options,
    known: &Knowledge,
) -> Read<(Read<Program>, Knowledge)> {
    let mut lowering = Lowering {
        text,
        options,
        structs: Structs::default(),
        declared: HashMap::new(),
        functions: HashMap::new(),
        scopes: Vec::new(),
        objects: Objects::default(),
        known,
        found: Knowledge {
            freed: known.freed,
            joined: known.joined,
            results: known.results,
            accessed: known.accessed.clone(),
            ..Knowledge::default()
        },
        addressed: BTreeSet::new(),
        statics: HashMap::new(),
        ordered: BTreeSet::new(),
        code: Code::new(),
        thread_locals: HashMap::new(),
        process: String::new(),
        is_main: true,
        creations: Vec::new(),
        threads: None,
        starts: None,
        ends: None,
        results: None,
        lasting: None,
        frames: Vec::new(),
        repeated: 0,
        blocks: Vec::new(),
        block_names: BTreeMap::new(),
        per_thread: Vec::new(),
        choice: None,
        section: None,
    };
    lowering.file(unit)?;
    let program = lowering.processes()?;
    lowering.conclude();
    Ok((program, lowering.found))
}

/// A thread that `main` creates.
struct Thread {
    function: String,
    argument: Value,
    /// Its creation, if it is not created at once.
    late: Option<Creation>,
    span: Span,
}

/// The automaton of a process, not yet merged.
pub struct Built {
    pub name: String,
    pub function: String,
    pub code: Code,
    pub entry: Loc,
}

impl<'a> Lowering<'a> {
    fn processes(&mut self) -> Read<Read<Program>> {
        self.own_objects();
        let start = Span::new(0, 0);
        self.begin("main", true)?;
        let Some(main) = self.functions.get("main").copied() else {
            let diagnostic = Diagnostic::error(start, "there is no function 'main'");
            return Err(Box::new(diagnostic.help("main creates the threads")));
        };
        let declared = super::call::signature(&main.node.declarator);
        let parameters = declared.map_or(0, |declared| {
            let named = declared.parameters.iter();
            named.filter(|p| p.node.declarator.is_some()).count()
        });
        let span = self.span(main.span);
        let nothing = (0..parameters).map(|_| (Operand::int(0), main.span));
        self.inline(main, "main", nothing.collect(), main.span)?;
        self.code.pass_to(self.code.exit, span);
        let mut code = std::mem::replace(&mut self.code, Code::new());
        let creations = std::mem::take(&mut self.creations);
        let alone = self.alone(&code, &creations);
        let (threads, problem) = self.threads(&code, &creations, &alone);
        // Never fewer than before, or readings might go to and fro for ever.
        self.found.threads = self.known.threads.max(threads.len() as u32);
        for (number, thread) in threads.iter().enumerate() {
            if let Some(late) = &thread.late {
                self.create_late(&mut code, late, number as u32 + 1);
            }
        }
        for (local, value) in code.locals.iter_mut().zip(&alone.locals) {
            local.initial = Initial::Value(*value);
        }
        let mut built = vec![Built {
            name: "main".to_string(),
            function: "main".to_string(),
            code,
            entry: alone.at,
        }];
        for (index, thread) in threads.iter().enumerate() {
            let same = |other: &&Thread| other.function == thread.function;
            let name = match threads.iter().filter(same).count() {
                1 => thread.function.clone(),
                _ => {
                    let before = threads[..index].iter().filter(same).count();
                    format!("{}[{before}]", thread.function)
                }
            };
            self.begin(&name, false)?;
            if thread.late.is_some() {
                self.await_creation(index as u32 + 1, thread.span);
            }
            let function = self.functions[&thread.function];
            let takes = super::call::signature(&function.node.declarator);
            let takes = takes.map_or(0, |declared| declared.parameters.len());
            let pointer = Type::pointer(Type::Void.plain());
            let argument = Operand::scalar(pointer, Expr::Const(thread.argument));
            let arguments = match takes {
                1 => vec![(argument, function.node.declarator.span)],
                _ => Vec::new(),
            };
            let result = self.inline(function, &thread.function, arguments, function.span)?;
            self.end_thread(index as u32 + 1, result, thread.span);
            let exit = self.code.exit;
            self.code.pass_to(exit, thread.span);
            let code = std::mem::replace(&mut self.code, Code::new());
            built.push(Built {
                name,
                function: thread.function.clone(),
                code,
                entry: Loc(0),
            });
        }
        let places = self.all_places();
        self.found.accessed.resize(
            self.found.accessed.len().max(built.len() - 1),
            BTreeSet::new(),
        );
        for (process, all) in built[1..].iter().zip(&mut self.found.accessed) {
            let places = process
                .code
                .edges
                .iter()
                .flat_map(|edge| accessed(&edge.instr))
                .map(|place| &places[place.index()].name);
            all.extend(places.cloned());
        }
        let program = self.assemble(built, &alone.memory);
        Ok(match problem {
            Some(problem) => Err(problem),
            None => Ok(program),
        })
    }

    /// Objects that no declaration names.
    fn own_objects(&mut self) {
        let flag = || Type::Int(Number::BOOL).plain();
        if self.known.threads > 0 {
            let flags = Type::Array(Rc::new(flag()), self.known.threads).plain();
            let mut add = |name: &str, ty: &Qualified| {
                self.objects
                    .add(name.to_string(), ty.clone(), &self.structs)
            };
            self.starts = Some(add("created", &flags));
            self.ends = Some(add("ended", &flags));
            if self.known.results {
                let result = Rc::new(Type::Int(Number::UNSIGNED_LONG).plain());
                let results = Type::Array(result, self.known.threads).plain();
                self.results = Some(add("result", &results));
            }
        }
        if self.known.freed {
            let id = self
                .objects
                .add("lasting".to_string(), flag(), &self.structs);
            let address = self.objects.address(id);
            self.objects.initialise(address, 1);
            self.lasting = Some(id);
        }
    }

    /// Begins with a new process.
    fn begin(&mut self, name: &str, is_main: bool) -> Read<()> {
        self.process = name.to_string();
        self.is_main = is_main;
        self.code = Code::new();
        self.thread_locals.clear();
        self.repeated = 0;
        for declaration in self.per_thread.clone() {
            self.declaration(declaration)?;
        }
        Ok(())
    }

    /// Runs `main` as far as it can be run alone.
    fn alone(&self, code: &Code, creations: &[Creation]) -> Alone {
        let places = self.all_places();
        let process = process(0, "main".to_string(), code.clone(), Loc(0));
        let initial = |value: &Initial| match value {
            Initial::Value(value) => *value,
            Initial::Any => 0,
        };
        let mut now = Alone {
            at: process.entry,
            locals: process.locals.iter().map(|l| initial(&l.initial)).collect(),
            memory: places.iter().map(|p| initial(&p.initial)).collect(),
            created: Vec::new(),
        };
        let start = now.clone();
        let program = bare(places, vec![process]);
        let process = &program.processes[0];
        let semantics = Semantics {
            fuse: false,
            reset_dead: false,
            ..Semantics::new(Model::Sc, Abstraction::Set)
        };
        let stepper = semantics.stepper(&program);
        // Whether one of so many threads accesses what a step does.
        let is_shared = |step: &Step, threads: usize| {
            let all = match step.effect {
                Effect::Store(place, _) | Effect::Load(place, _) | Effect::Update(place, _) => {
                    vec![place]
                }
                _ => {
                    let edges = step.path.iter().map(|edge| process.edge(*edge));
                    edges.flat_map(|edge| accessed(&edge.instr)).collect()
                }
            };
            let names = all.iter().map(|place| &program.places[place.index()].name);
            let names: Vec<&String> = names.collect();
            let mut threads = self.known.accessed.iter().take(threads);
            threads.any(|accessed| names.iter().any(|name| accessed.contains(*name)))
        };
        for _ in 0..ALONE {
            let config = Config {
                at: At::Loc(now.at),
                locals: now.locals.clone(),
                buffers: Buffers::default(),
            };
            let memory = |place: PlaceId| now.memory[place.index()];
            let steps = stepper.steps(process, &config, &memory, &Watch::never());
            let Ok([step]) = steps.as_deref() else {
                break;
            };
            let At::Loc(to) = step.next.at else { break };
            let threads = now.created.len();
            if is_shared(step, threads) {
                break;
            }
            let created = creations.iter().position(|c| step.path.contains(&c.edge));
            if let Some(index) = created {
                let argument = creations[index]
                    .argument
                    .eval(&|local| Ok(now.locals[local.index()]));
                now.created.push((index, argument.unwrap_or(0)));
                if now.created.len() as u32 > THREADS {
                    break;
                }
            }
            for (place, value) in &step.writes {
                now.memory[place.index()] = *value;
            }
            now.locals = step.next.locals.clone();
            now.at = to;
        }
        match now.created.is_empty() {
            true => start,
            false => now,
        }
    }

    /// All threads, and what stands against reading the program.
    fn threads(
        &self,
        code: &Code,
        creations: &[Creation],
        alone: &Alone,
    ) -> (Vec<Thread>, Option<Box<Diagnostic>>) {
        let at_once = alone.created.iter().map(|(index, argument)| Thread {
            function: creations[*index].function.clone(),
            argument: *argument,
            late: None,
            span: creations[*index].span,
        });
        let mut threads: Vec<Thread> = at_once.collect();
        let mut problem = None;
        let reached = reachable(code, alone.at);
        for creation in creations {
            let edge = &code.edges[creation.edge.index()];
            if !reached[edge.from.index()] {
                continue;
            }
            let again = reachable(code, edge.to)[edge.from.index()];
            if again || threads.len() as u32 > THREADS {
                let message = "the number of threads depends on the schedule";
                let help = "create a fixed number of threads before anything else is shared";
                let diagnostic = Diagnostic::error(creation.span, message).help(help);
                problem = Some(Box::new(diagnostic));
                continue;
            }
            let Some(argument) = creation.argument.constant() else {
                let message = "the argument of a thread that is created late must be constant";
                let help = "create it before main reads or writes anything that is shared";
                let diagnostic = Diagnostic::error(creation.span, message).help(help);
                problem = Some(Box::new(diagnostic));
                continue;
            };
            threads.push(Thread {
                function: creation.function.clone(),
                argument,
                late: Some(creation.clone()),
                span: creation.span,
            });
        }
        (threads, problem)
    }

    /// Lets `main` say that a thread has been created.
    fn create_late(&mut self, code: &mut Code, creation: &Creation, number: u32) {
        if let Instr::Assign { value, .. } = &mut code.edges[creation.count.index()].instr {
            *value = Expr::Const(number.into());
        }
        if let Some(place) = self.start_place(number) {
            let store = Instr::Store {
                place,
                value: Expr::Const(1),
                label: Label(0),
            };
            let span = creation.span;
            code.edges[creation.edge.index()].instr = Instr::Atomic(vec![(store, span)]);
        }
    }
}

/// How far `main` has come, and the state there.
#[derive(Clone)]
struct Alone {
    at: Loc,
    locals: Vec<Value>,
    memory: Vec<Value>,
    /// The creations it has passed, with their arguments.
    created: Vec<(usize, Value)>,
}

pub fn bare(places: Vec<Place>, processes: Vec<Process>) -> Program {
    Program {
        places,
        processes,
        points: Vec::new(),
        unreachable: Vec::new(),
        properties: Vec::new(),
        addresses: BTreeMap::new(),
        ordered: BTreeSet::new(),
    }
}

pub fn process(template: usize, name: String, code: Code, entry: Loc) -> Process {
    Process {
        name,
        template,
        locals: code.locals,
        locations: code.locations,
        edges: code.edges,
        entry,
        exit: code.exit,
    }
}

/// Which locations can be reached from one, which counts only if it is come back to.
fn reachable(code: &Code, from: Loc) -> Vec<bool> {
    let mut reached = vec![false; code.locations.len()];
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        if !std::mem::replace(&mut reached[at.index()], true) {
            let out = code.locations[at.index()].out.iter();
            work.extend(out.map(|edge| code.edges[edge.index()].to));
        }
    }
    reached
}
