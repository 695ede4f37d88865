//! Traces: how a state is reached, step by step.

use crate::limits::{StopReason, Watch};
use crate::memory::step::{At, Config, Effect, Step, Stepper};
use crate::program::{
    Expr, Fault, Initial, Instr, LocalId, PlaceId, Process, ProcessId, Program, Update, Value,
};
use crate::property::{self, View, Violation};
use std::sync::Arc;

/// An execution: where it starts, and every step with what it leads to.
#[derive(Debug, Clone)]
pub struct Trace {
    pub initial: Snapshot,
    pub steps: Vec<TraceStep>,
}

#[derive(Debug, Clone)]
pub struct TraceStep {
    pub process: ProcessId,
    pub step: Step,
    pub after: Snapshot,
}

/// A whole state, unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Snapshot {
    /// By place.
    pub memory: Vec<Value>,
    /// By process.
    pub configs: Vec<Arc<Config>>,
}

/// The locals of a process by their ids; none where it is not known.
pub type Locals = Vec<Option<Value>>;

/// What becomes of locals along a trace, also of those that nobody reads any more: configurations
/// forget them.
pub struct LocalsAlong {
    /// Of each process, at the start.
    pub initial: Vec<Locals>,
    /// Of the process of each step, behind each edge of the step.
    pub steps: Vec<Vec<Locals>>,
}

impl Trace {
    /// The state it ends in.
    pub fn last(&self) -> &Snapshot {
        self.steps.last().map_or(&self.initial, |step| &step.after)
    }

    /// The locals as the statements leave them.
    pub fn locals(&self, program: &Program) -> LocalsAlong {
        let processes = program.processes.iter().zip(&self.initial.configs);
        let start = processes.map(|(process, config)| {
            let all = process.locals.iter().map(|local| match local.initial {
                Initial::Value(value) => Some(value),
                Initial::Any => None,
            });
            let mut locals = all.collect();
            kept(process, config, &mut locals);
            locals
        });
        let initial: Vec<Locals> = start.collect();
        let mut now = initial.clone();
        let steps = self.steps.iter().map(|taken| {
            let process = program.process(taken.process);
            let locals = &mut now[taken.process.index()];
            let mut behind = Vec::new();
            for &edge in &taken.step.path {
                run(&process.edge(edge).instr, taken.step.effect, locals);
                behind.push(locals.clone());
            }
            kept(process, &taken.step.next, locals);
            if let Some(last) = behind.last_mut() {
                last.clone_from(locals);
            }
            behind
        });
        let steps = steps.collect();
        LocalsAlong { initial, steps }
    }
}

/// Takes over what a configuration has not forgotten.
fn kept(process: &Process, config: &Config, locals: &mut Locals) {
    let At::Loc(at) = config.at else {
        return;
    };
    let live = process.location(at).live.iter().zip(&config.locals);
    for (local, (_, value)) in locals.iter_mut().zip(live).filter(|(_, (live, _))| **live) {
        *local = Some(*value);
    }
}

/// What an instruction leaves in its local, given what the step did that ends with it.
fn run(instr: &Instr, effect: Effect, locals: &mut Locals) {
    let value = |expr: &Expr<LocalId>| {
        let known = |local: &LocalId| locals[local.index()].ok_or(Fault::DivisionByZero);
        expr.eval(&known).ok()
    };
    let (local, left) = match (instr, effect) {
        (Instr::Assign { local, value: expr }, _) => (local, value(expr)),
        (Instr::Load { local, .. }, Effect::Load(_, found)) => (local, Some(found)),
        (Instr::Havoc { local, .. }, Effect::Local(chosen)) => (local, chosen),
        (Instr::Update { local, op, .. }, Effect::Update(_, found)) => match op {
            Update::Cas { expected, .. } => {
                let succeeded = value(expected).map(|expected| Value::from(expected == found));
                (local, succeeded)
            }
            Update::CasOld { .. } | Update::Swap(_) | Update::Apply(..) => (local, Some(found)),
        },
        (Instr::Atomic(body), _) => {
            for (instr, _) in body {
                if let Instr::Assign { local, .. }
                | Instr::Havoc { local, .. }
                | Instr::Load { local, .. }
                | Instr::Update { local, .. } = instr
                {
                    locals[local.index()] = None;
                }
            }
            return;
        }
        _ => return,
    };
    locals[local.index()] = left;
}

impl Snapshot {
    /// A statement of some process has failed.
    pub fn failed(&self) -> bool {
        self.configs
            .iter()
            .any(|config| matches!(config.at, At::Failed(_)))
    }

    /// What is wrong with the state, standstills aside.
    pub fn violation(&self, program: &Program) -> Option<Violation> {
        self.with_view(program, property::violation)
    }

    /// Every process has stopped and every buffer is empty.
    pub fn all_done(&self, program: &Program) -> bool {
        self.with_view(program, |view| view.all_done())
    }

    pub(super) fn with_view<T>(&self, program: &Program, look: impl Fn(&View) -> T) -> T {
        look(&View {
            program,
            configs: &self
                .configs
                .iter()
                .map(|config| &**config)
                .collect::<Vec<_>>(),
            memory: &|place| self.memory[place.index()],
        })
    }

    /// All steps that are possible now, process by process.
    pub fn steps(&self, stepper: &Stepper, watch: &Watch) -> Result<Vec<TraceStep>, StopReason> {
        let components = self.memory.len() + self.configs.len();
        let bytes = size_of::<TraceStep>() + components * size_of::<usize>();
        let mut all = Vec::new();
        for (process, config) in stepper.program.process_ids().zip(&self.configs) {
            let memory = |place: PlaceId| self.memory[place.index()];
            let automaton = stepper.program.process(process);
            for step in stepper.steps(automaton, config, &memory, watch)? {
                let after = self.after(process, &step);
                all.push(TraceStep {
                    process,
                    step,
                    after,
                });
                watch.note(components, all.len() * bytes)?;
            }
        }
        Ok(all)
    }

    fn after(&self, process: ProcessId, step: &Step) -> Snapshot {
        let mut after = self.clone();
        after.configs[process.index()] = Arc::new(step.next.clone());
        for (place, value) in &step.writes {
            after.memory[place.index()] = *value;
        }
        after
    }
}
