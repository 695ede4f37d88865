//! Executions by hand: the steps that a state has, one taken after the other and taken back.
//!
//! Buffers are exact and of any length. A counterexample can be laid beside the execution: the
//! walk then knows its next step as long as it has been followed.

use crate::describe;
use crate::limits::Watch;
use crate::memory::step::{At, Stepper, initial_values};
use crate::program::{Initial, Instr, ProcessId, Program};
use crate::property::Violation;
use crate::source::Source;
use crate::space::{Snapshot, Trace, TraceStep};
use std::sync::Arc;

/// More ways to start than this are not offered.
pub const MOST_STARTS: usize = 100;

/// An execution that grows and shrinks.
pub struct Walk<'a> {
    pub stepper: &'a Stepper<'a>,
    pub source: &'a Source,
    /// What has been done so far.
    pub trace: Trace,
    /// A counterexample to follow.
    script: Option<Trace>,
}

impl<'a> Walk<'a> {
    /// Begins in a state.
    pub fn new(stepper: &'a Stepper<'a>, source: &'a Source, initial: Snapshot) -> Walk<'a> {
        let steps = Vec::new();
        Walk {
            stepper,
            source,
            trace: Trace { initial, steps },
            script: None,
        }
    }

    pub fn program(&self) -> &'a Program {
        self.stepper.program
    }

    pub fn state(&self) -> &Snapshot {
        self.trace.last()
    }

    /// The steps that are possible now, process by process.
    pub fn choices(&self) -> Vec<TraceStep> {
        let steps = self.state().steps(self.stepper, &Watch::never());
        steps.expect("nothing ends it early")
    }

    pub fn take(&mut self, step: TraceStep) {
        self.trace.steps.push(step);
    }

    /// Takes back the last steps; how many there were.
    pub fn undo(&mut self, steps: usize) -> usize {
        let left = self.trace.steps.len().saturating_sub(steps);
        let undone = self.trace.steps.len() - left;
        self.trace.steps.truncate(left);
        undone
    }

    /// Starts over with a counterexample at hand.
    pub fn follow(&mut self, script: Trace) {
        self.restart(script.initial.clone());
        self.script = Some(script);
    }

    /// Starts over in a state.
    pub fn restart(&mut self, initial: Snapshot) {
        let steps = Vec::new();
        self.trace = Trace { initial, steps };
    }

    /// How many steps the counterexample has, if there is one.
    pub fn script_len(&self) -> Option<usize> {
        self.script.as_ref().map(|script| script.steps.len())
    }

    /// Goes to where the counterexample is after so many steps.
    pub fn jump(&mut self, steps: usize) {
        if let Some(script) = &self.script {
            let steps = steps.min(script.steps.len());
            self.trace = Trace {
                initial: script.initial.clone(),
                steps: script.steps[..steps].to_vec(),
            };
        }
    }

    /// The next step of the counterexample, if it has been followed so far.
    pub fn next_of_script(&self) -> Option<&TraceStep> {
        let script = self.script.as_ref()?;
        let done = &self.trace.steps;
        let same = |(one, two): (&TraceStep, &TraceStep)| one.after == two.after;
        let followed = script.initial == self.trace.initial
            && done.len() < script.steps.len()
            && done.iter().zip(&script.steps).all(same);
        followed.then(|| &script.steps[done.len()])
    }

    /// What is wrong with the state, standstills aside.
    pub fn violation(&self) -> Option<Violation> {
        self.state().violation(self.program())
    }

    /// Where a process stands: the line and the text of what it does next, or that it has stopped.
    pub fn position(&self, process: ProcessId) -> (Option<String>, String) {
        let automaton = self.program().process(process);
        let config = &self.state().configs[process.index()];
        let At::Loc(at) = config.at else {
            return (None, "has failed".to_string());
        };
        if at == automaton.exit {
            return (None, "has stopped".to_string());
        }
        let mut seen = vec![false; automaton.locations.len()];
        let mut work = vec![at];
        while let Some(at) = work.pop() {
            if std::mem::replace(&mut seen[at.index()], true) {
                continue;
            }
            for (_, edge) in automaton.edges_from(at) {
                match edge.instr {
                    Instr::Pass => work.push(edge.to),
                    _ => {
                        let line = self.source.location(edge.span.start).to_string();
                        return (Some(line), describe::one_line(self.source, edge.span));
                    }
                }
            }
        }
        (None, "goes on".to_string())
    }

    /// The locals of a process that have names: `r=0 s=1`. What nobody reads any more is told, too.
    pub fn locals(&self, process: ProcessId) -> String {
        let automaton = self.program().process(process);
        let along = self.trace.locals(self.program());
        let steps = self.trace.steps.iter().zip(&along.steps);
        let own = steps.filter(|(step, _)| step.process == process);
        let last = own.filter_map(|(_, behind)| behind.last()).next_back();
        let values = last.unwrap_or(&along.initial[process.index()]);
        let named = automaton.locals.iter().zip(values);
        let named = named.filter(|(local, _)| !local.is_temporary());
        let words = named.map(|(local, value)| match value {
            Some(value) => format!("{}={value}", local.name),
            None => format!("{}=?", local.name),
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The states that a program may start in, up to [`MOST_STARTS`] of them.
pub fn starts(stepper: &Stepper) -> Vec<Snapshot> {
    let mut states = vec![Snapshot {
        memory: Vec::new(),
        configs: Vec::new(),
    }];
    for place in &stepper.program.places {
        let add = |state: &mut Snapshot, value| state.memory.push(value);
        states = match place.initial {
            Initial::Any if place.domain.is_unbounded() => {
                extended(states, stepper.choices.clone(), add)
            }
            initial => extended(states, initial_values(initial, place.domain), add),
        };
    }
    for process in &stepper.program.processes {
        let configs = stepper.initial(process, &Watch::never());
        let configs = configs.expect("nothing ends it early").into_iter();
        let configs: Vec<_> = configs.take(MOST_STARTS).map(Arc::new).collect();
        states = extended(states, configs, |state, config| state.configs.push(config));
    }
    states
}

fn extended<T>(
    states: Vec<Snapshot>,
    values: impl IntoIterator<Item = T> + Clone,
    add: impl Fn(&mut Snapshot, T),
) -> Vec<Snapshot> {
    let mut all = Vec::new();
    for state in &states {
        for value in values.clone() {
            if all.len() == MOST_STARTS {
                return all;
            }
            let mut state = state.clone();
            add(&mut state, value);
            all.push(state);
        }
    }
    all
}
