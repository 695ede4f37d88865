//! Properties as predicates on states: what counts as a violation.

use crate::memory::step::{At, Config, Failure};
use crate::program::{
    Atom, Expr, Fault, Loc, PlaceId, ProcessId, Program, PropertyId, PropertyKind, Value,
};

/// What is wrong with a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// An assertion or a runtime error.
    Failure(ProcessId, Failure),
    /// The property does not hold.
    Property(PropertyId),
    /// The property has no value.
    Undefined(PropertyId, Fault),
    /// No step is possible, and some process has not stopped.
    Deadlock,
    /// No store is pending, some process has not stopped, and all that have not can only spin.
    Stuck,
    /// No store is pending, and sequential consistency does not reach the state.
    NotSequential,
}

/// A state as properties see it.
pub struct View<'a> {
    pub program: &'a Program,
    pub configs: &'a [&'a Config],
    pub memory: &'a dyn Fn(PlaceId) -> Value,
}

/// The first thing that is wrong with a state, standstills aside.
pub fn violation(view: &View) -> Option<Violation> {
    failure(view).or_else(|| {
        let mut properties = view.program.property_ids();
        properties.find_map(|id| property(view, id))
    })
}

/// A process whose last statement failed.
pub fn failure(view: &View) -> Option<Violation> {
    let mut configs = view.program.process_ids().zip(view.configs);
    configs.find_map(|(id, config)| match config.at {
        At::Failed(failure) => Some(Violation::Failure(id, failure)),
        At::Loc(_) => None,
    })
}

/// Whether a property is violated.
pub fn property(view: &View, id: PropertyId) -> Option<Violation> {
    let property = view.program.property(id);
    if property.kind == PropertyKind::Final && !view.all_done() {
        return None;
    }
    let bad = match property.kind {
        PropertyKind::Mutex | PropertyKind::Forbid => true,
        PropertyKind::Invariant | PropertyKind::Final => false,
    };
    match view.eval(&property.predicate) {
        Ok(value) => ((value != 0) == bad).then_some(Violation::Property(id)),
        Err(fault) => Some(Violation::Undefined(id, fault)),
    }
}

impl View<'_> {
    /// Every process has stopped and every buffer is empty.
    pub fn all_done(&self) -> bool {
        let mut both = self.program.processes.iter().zip(self.configs);
        both.all(|(process, config)| is_done(config, process.exit))
    }

    /// The value of a predicate.
    pub fn eval(&self, predicate: &Expr<Atom>) -> Result<Value, Fault> {
        predicate.eval(&|atom| match atom {
            Atom::Place(place) => Ok((self.memory)(*place)),
            Atom::Cell { first, len, index } => {
                let index = self.eval(index)?;
                match u32::try_from(index) {
                    Ok(offset) if offset < *len => Ok((self.memory)(PlaceId(first.0 + offset))),
                    _ => Err(Fault::OutOfBounds { index, len: *len }),
                }
            }
            Atom::Local(process, local) => Ok(self.configs[process.index()].locals[local.index()]),
            Atom::At(positions) => Ok(Value::from(self.present(positions) >= 1)),
            Atom::TwoAt(positions) => Ok(Value::from(self.present(positions) >= 2)),
        })
    }

    /// How many of these positions are taken.
    fn present(&self, positions: &[(ProcessId, Loc)]) -> usize {
        let taken =
            |(process, at): &&(ProcessId, Loc)| self.configs[process.index()].at == At::Loc(*at);
        positions.iter().filter(taken).count()
    }
}

/// The process has stopped and nothing of it is pending.
pub fn is_done(config: &Config, exit: Loc) -> bool {
    config.at == At::Loc(exit) && config.buffers.is_empty()
}
