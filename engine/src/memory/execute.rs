//! What one instruction does to the locals and buffers of its process and to memory.

use super::step::{Effect, Failure, Stepper, config_bytes};
use super::{Buffers, Entry, Loaded, Marker, Memory, Order, Sc, Stored};
use crate::limits::{StopReason, Watch};
use crate::program::value::binary;
use crate::program::{
    Domain, Edge, Expr, Fault, FenceKind, Instr, LocalId, PlaceId, PlaceRef, Process, Update, Value,
};
use crate::source::Span;

/// What taking an edge leads to.
#[derive(Debug, Clone)]
pub struct EdgeOutcome {
    pub effect: Effect,
    pub locals: Vec<Value>,
    pub buffers: Buffers,
    pub writes: Vec<(PlaceId, Value)>,
    pub failure: Option<Failure>,
}

impl Stepper<'_> {
    /// Every outcome of an edge; none if it cannot be taken now. An atomic block runs its
    /// instructions one after the other under sequential consistency.
    pub(super) fn execute(
        &self,
        process: &Process,
        edge: &Edge,
        before: EdgeOutcome,
        memory: &dyn Fn(PlaceId) -> Value,
        watch: &Watch,
    ) -> Result<Vec<EdgeOutcome>, StopReason> {
        let perform = |instr: &Instr, span: Span, on: &dyn Memory, before: EdgeOutcome| {
            let act = Act {
                stepper: self,
                process,
                on,
                memory,
            };
            let failed = before.clone();
            let outcomes = act.perform(instr, span, before);
            outcomes.unwrap_or_else(|fault| vec![failed.fail(span, Some(fault))])
        };
        let Instr::Atomic(body) = &edge.instr else {
            return Ok(perform(&edge.instr, edge.span, &*self.memory, before));
        };
        let mut outcomes = vec![before];
        for (instr, span) in body {
            let mut next = Vec::new();
            for outcome in outcomes {
                let before = next.len();
                match outcome.failure {
                    None => next.extend(perform(instr, *span, &Sc, outcome)),
                    Some(_) => next.push(outcome),
                }
                let added = 1 + next.len() - before;
                watch.note(added, next.len() * config_bytes(process))?;
            }
            outcomes = next;
        }
        for outcome in &mut outcomes {
            outcome.effect = Effect::Atomic;
        }
        Ok(outcomes)
    }
}

/// An instruction about to be performed.
struct Act<'a> {
    stepper: &'a Stepper<'a>,
    process: &'a Process,
    /// The memory model it runs under.
    on: &'a dyn Memory,
    /// The values in memory before the step.
    memory: &'a dyn Fn(PlaceId) -> Value,
}

impl Act<'_> {
    fn perform(
        &self,
        instr: &Instr,
        span: Span,
        before: EdgeOutcome,
    ) -> Result<Vec<EdgeOutcome>, Fault> {
        let mut now = before.clone();
        let locals = &before.locals;
        match instr {
            Instr::Pass | Instr::Skip => {}
            Instr::Assign { local, value } => self.set(&mut now, *local, eval(value, locals)?)?,
            Instr::Havoc { local, low, high } => {
                let (low, high) = (eval(low, locals)?, eval(high, locals)?);
                let Domain {
                    low: least,
                    high: most,
                } = self.process.locals[local.index()].domain;
                let inside = low.max(least)..=high.min(most);
                // Of the values outside the local's range, one is enough to fail.
                let mut outside = [low, high].into_iter();
                let outside = outside.find(|value| low <= high && !inside.contains(value));
                let chosen = |value| {
                    let mut now = before.clone();
                    now.effect = Effect::Local(Some(value));
                    self.try_set(now, span, *local, value)
                };
                if self.process.locals[local.index()].domain.is_unbounded() {
                    let tried = self.stepper.choices.iter().copied();
                    return Ok(tried.filter(|v| inside.contains(v)).map(chosen).collect());
                }
                return Ok(inside.clone().chain(outside).map(chosen).collect());
            }
            Instr::Guard { condition, wanted } => {
                if (eval(condition, locals)? != 0) != *wanted {
                    return Ok(Vec::new());
                }
            }
            Instr::Assert { condition, fault } => {
                if eval(condition, locals)? == 0 {
                    return Ok(vec![now.fail(span, *fault)]);
                }
            }
            Instr::Store {
                place,
                value,
                label,
            } => {
                let place = resolve(place, locals)?;
                let value = self.place_domain(place).check(eval(value, locals)?)?;
                let label = Some(*label).filter(|_| self.stepper.labelled);
                let entry = Entry {
                    place,
                    value,
                    label,
                };
                match self.on.store(&mut now.buffers, entry) {
                    Stored::Pending => {}
                    Stored::InMemory => now.write(place, value),
                    Stored::NoRoom => return Ok(Vec::new()),
                }
                now.effect = Effect::Store(place, value);
            }
            Instr::Load { local, place } => {
                let place = resolve(place, locals)?;
                let values = match self.on.load(&before.buffers, place) {
                    Loaded::FromMemory => vec![self.read(&before, place)],
                    Loaded::Pending(values) => values,
                };
                let found = |value| {
                    let mut now = before.clone();
                    now.effect = Effect::Load(place, value);
                    self.try_set(now, span, *local, value)
                };
                return Ok(values.into_iter().map(found).collect());
            }
            Instr::Update {
                local, place, op, ..
            } => {
                let place = resolve(place, locals)?;
                let old = self.read(&before, place);
                let (new, result) = update(op, old, locals)?;
                if let Some(new) = new {
                    now.write(place, self.place_domain(place).check(new)?);
                }
                self.set(&mut now, *local, result)?;
                now.effect = Effect::Update(place, old);
            }
            Instr::Fence(kind) => {
                match kind {
                    FenceKind::Full if !now.buffers.is_empty() => return Ok(Vec::new()),
                    FenceKind::Full => {}
                    FenceKind::StoreStore if self.on.order() == Order::Tso => {}
                    FenceKind::StoreStore => self.on.mark(&mut now.buffers, Marker::STORE_STORE),
                    FenceKind::StoreLoad => self.on.mark(&mut now.buffers, Marker::STORE_LOAD),
                }
                now.effect = Effect::Fence;
            }
            Instr::Atomic(_) => unreachable!("atomic blocks do not nest"),
        }
        Ok(vec![now])
    }

    fn set(&self, outcome: &mut EdgeOutcome, local: LocalId, value: Value) -> Result<(), Fault> {
        let domain = self.process.locals[local.index()].domain;
        outcome.locals[local.index()] = domain.check(value)?;
        Ok(())
    }

    /// Sets a local, or fails if the value is outside its range.
    fn try_set(
        &self,
        mut now: EdgeOutcome,
        span: Span,
        local: LocalId,
        value: Value,
    ) -> EdgeOutcome {
        match self.set(&mut now, local, value) {
            Ok(()) => now,
            Err(fault) => now.fail(span, Some(fault)),
        }
    }

    /// The value in memory, what this step has already written included.
    fn read(&self, outcome: &EdgeOutcome, place: PlaceId) -> Value {
        let written = outcome.writes.iter().find(|(at, _)| *at == place);
        written.map_or_else(|| (self.memory)(place), |(_, value)| *value)
    }

    fn place_domain(&self, place: PlaceId) -> Domain {
        self.stepper.program.places[place.index()].domain
    }
}

impl EdgeOutcome {
    pub fn new(locals: Vec<Value>, buffers: Buffers) -> EdgeOutcome {
        EdgeOutcome {
            effect: Effect::Local(None),
            locals,
            buffers,
            writes: Vec::new(),
            failure: None,
        }
    }

    fn fail(mut self, span: Span, fault: Option<Fault>) -> EdgeOutcome {
        self.failure = Some(Failure { span, fault });
        self.writes.clear();
        self
    }

    fn write(&mut self, place: PlaceId, value: Value) {
        self.writes.retain(|(at, _)| *at != place);
        self.writes.push((place, value));
    }
}

/// The value of an expression over locals.
pub fn eval(expr: &Expr<LocalId>, locals: &[Value]) -> Result<Value, Fault> {
    expr.eval(&|local| Ok(locals[local.index()]))
}

/// The place that a reference means, given the locals.
pub fn resolve(place: &PlaceRef, locals: &[Value]) -> Result<PlaceId, Fault> {
    match place {
        PlaceRef::Scalar(place) => Ok(*place),
        PlaceRef::Cell { first, len, index } => {
            let index = eval(index, locals)?;
            match u32::try_from(index) {
                Ok(offset) if offset < *len => Ok(PlaceId(first.0 + offset)),
                _ => Err(Fault::OutOfBounds { index, len: *len }),
            }
        }
        PlaceRef::Computed { address, targets } => {
            let address = eval(address, locals)?;
            match targets.binary_search_by_key(&address, |(address, _)| *address) {
                Ok(at) => Ok(targets[at].1),
                Err(_) if address == 0 => Err(Fault::NullPointer),
                Err(_) => Err(Fault::WildPointer),
            }
        }
    }
}

/// What a read-modify-write puts in place of `old`, if anything, and its result.
fn update(op: &Update, old: Value, locals: &[Value]) -> Result<(Option<Value>, Value), Fault> {
    Ok(match op {
        Update::Cas { expected, new } => {
            let (expected, new) = (eval(expected, locals)?, eval(new, locals)?);
            let success = old == expected;
            (success.then_some(new), Value::from(success))
        }
        Update::Swap(value) => (Some(eval(value, locals)?), old),
        Update::CasOld { expected, new } => {
            let (expected, new) = (eval(expected, locals)?, eval(new, locals)?);
            ((old == expected).then_some(new), old)
        }
        Update::Apply(op, value) => {
            let value = eval(value, locals)?;
            (Some(binary(*op, old, || Ok(value))?), old)
        }
    })
}
