//! The steps of one process.

use super::expr::{Piece, Refused, both, piece};
use super::{Errors, MOST_CHOICES, Promela};
use crate::export::last_edges;
use crate::program::{
    Domain, Edge, Expr, FenceKind, Instr, Loc, LocalId, PlaceId, PlaceRef, Program, Update, Value,
};
use crate::source::Span;

/// Whether some process has an atomic block.
pub fn has_atomic(program: &Program) -> bool {
    let edges = program.processes.iter().flat_map(|process| &process.edges);
    edges
        .into_iter()
        .any(|edge| matches!(edge.instr, Instr::Atomic(_)))
}

/// A step: what must hold, and what it does.
struct Step {
    guards: Vec<String>,
    actions: Vec<String>,
}

impl Promela<'_> {
    /// All steps of a process except flushes.
    pub(super) fn steps(&self, index: usize, errors: &mut Errors) -> Vec<String> {
        let process = &self.program.processes[index];
        let pc = &self.processes[index].name;
        let mut out = Vec::new();
        for at in 0..process.locations.len() {
            for edge in last_edges(process, Loc(at as u32)) {
                match self.edge(index, edge) {
                    Err(refused) => errors.push((edge.span, refused)),
                    Ok(steps) => {
                        for (number, step) in steps.into_iter().enumerate() {
                            let mut guards = vec![format!("pc_{pc} == {at}")];
                            guards.extend(step.guards);
                            let comment = match number {
                                0 => format!("        {}\n", self.comment(edge.span)),
                                _ => String::new(),
                            };
                            out.push(format!(
                                "{comment}        :: d_step {{ {}; {} }}\n",
                                guards.join(" && "),
                                step.actions.join("; ")
                            ));
                        }
                    }
                }
            }
        }
        out
    }

    /// The ways to take an edge.
    fn edge(&self, process: usize, edge: &Edge) -> Result<Vec<Step>, Refused> {
        let buffers = &self.buffers[process];
        let go_on = format!("pc_{} = {}", self.processes[process].name, edge.to.0);
        let step = |guards: Vec<String>, mut actions: Vec<String>| {
            actions.push(go_on.clone());
            Ok(vec![Step { guards, actions }])
        };
        match &edge.instr {
            Instr::Pass | Instr::Skip => step(Vec::new(), Vec::new()),
            Instr::Assign { .. } | Instr::Assert { .. } => {
                step(Vec::new(), self.direct(process, &edge.instr)?)
            }
            Instr::Guard { condition, wanted } => {
                let condition = self.value(process, condition)?;
                let sign = if *wanted { "!=" } else { "==" };
                let passes = format!("{} {sign} 0", condition.text);
                match condition.defined {
                    None => step(vec![passes], Vec::new()),
                    Some(defined) => step(
                        vec![format!("(!{defined} || {passes})")],
                        vec![format!("assert({defined})")],
                    ),
                }
            }
            Instr::Havoc { local, low, high } => self.havoc(process, *local, low, high, &go_on),
            Instr::Store { place, value, .. } => {
                let (place, domain) = self.place(process, place)?;
                let value = self.value(process, value)?;
                let mut actions = check(place.defined.clone());
                actions.extend(check(value.within(domain)));
                actions.push(buffers.store(&place.text, &value.text));
                step(vec![guarded(&place, buffers.room(&place.text))], actions)
            }
            Instr::Load { local, place } => {
                let (place, domain) = self.place(process, place)?;
                let found = Piece::plain(buffers.load(&place.text), domain);
                let mut actions = check(place.defined.clone());
                actions.extend(self.set(process, *local, &found));
                step(buffers.may_load().into_iter().collect(), actions)
            }
            Instr::Update { place, .. } => {
                let (place, _) = self.place(process, place)?;
                let wait = guarded(&place, buffers.may_update(&place.text));
                step(vec![wait], self.direct(process, &edge.instr)?)
            }
            Instr::Fence(FenceKind::Full) => step(vec![buffers.empty()], Vec::new()),
            Instr::Fence(kind) => step(Vec::new(), buffers.mark(*kind).into_iter().collect()),
            Instr::Atomic(body) => Ok(vec![Step {
                guards: vec![buffers.empty()],
                actions: self.atomic(process, body, edge.to)?,
            }]),
        }
    }

    /// One step for each value that can be chosen, and one for those out of range.
    fn havoc(
        &self,
        process: usize,
        local: LocalId,
        low: &Expr<LocalId>,
        high: &Expr<LocalId>,
        go_on: &str,
    ) -> Result<Vec<Step>, Refused> {
        let (low, high) = (self.value(process, low)?, self.value(process, high)?);
        let domain = self.program.processes[process].locals[local.index()].domain;
        let name = &self.processes[process].locals[local.index()];
        let least = low.values.low.max(domain.low.into());
        let most = high.values.high.min(domain.high.into());
        if most - least >= MOST_CHOICES as i128 {
            return Err(Refused::choices(domain));
        }
        let mut steps = Vec::new();
        let defined = both(low.defined.clone(), high.defined.clone());
        // Of an empty range nothing can be chosen; of a range that leaves the local's, an
        // outside value is an error.
        let fits = both(low.within(domain), high.within(domain));
        let wrong = fits.map(|fits| {
            let outside = format!("({} <= {} && !{fits})", low.text, high.text);
            match &defined {
                None => outside,
                Some(defined) => format!("(!{defined} || {outside})"),
            }
        });
        for value in least..=most {
            let guard = format!("{} <= {value} && {value} <= {}", low.text, high.text);
            let mut guards: Vec<String> = defined.clone().into_iter().collect();
            guards.push(guard);
            let actions = vec![format!("{name} = {value}"), go_on.to_string()];
            steps.push(Step { guards, actions });
        }
        steps.extend(wrong.map(|wrong| Step {
            guards: vec![wrong],
            actions: vec!["assert(false)".to_string()],
        }));
        Ok(steps)
    }

    /// What an instruction does directly on memory, assertions included.
    fn direct(&self, process: usize, instr: &Instr) -> Result<Vec<String>, Refused> {
        Ok(match instr {
            Instr::Pass | Instr::Skip => Vec::new(),
            Instr::Assign { local, value } => {
                let value = self.value(process, value)?;
                self.set(process, *local, &value)
            }
            Instr::Assert { condition, .. } => {
                let condition = self.value(process, condition)?;
                let holds = Some(format!("({} != 0)", condition.text));
                check(both(condition.defined, holds))
            }
            Instr::Guard { condition, wanted } => {
                let condition = self.value(process, condition)?;
                let sign = if *wanted { "!=" } else { "==" };
                let mut actions = check(condition.defined);
                actions.push(format!("ok = ({} {sign} 0)", condition.text));
                actions
            }
            Instr::Store { place, value, .. } => {
                let (place, domain) = self.place(process, place)?;
                let value = self.value(process, value)?;
                let mut actions = check(place.defined);
                actions.extend(check(value.within(domain)));
                actions.push(format!("mem[{}] = {}", place.text, value.text));
                actions
            }
            Instr::Load { local, place } => {
                let (place, domain) = self.place(process, place)?;
                let mut actions = check(place.defined);
                let found = Piece::plain(format!("mem[{}]", place.text), domain);
                actions.extend(self.set(process, *local, &found));
                actions
            }
            Instr::Update {
                local, place, op, ..
            } => {
                let (place, domain) = self.place(process, place)?;
                let mut actions = check(place.defined);
                actions.extend(self.update(process, &place.text, domain, op)?);
                let result = match op {
                    Update::Cas { .. } => Domain::BOOL,
                    Update::CasOld { .. } | Update::Swap(_) | Update::Apply(..) => domain,
                };
                let result = Piece::plain("tmp".to_string(), result);
                actions.extend(self.set(process, *local, &result));
                actions.push("tmp = 0".to_string());
                actions
            }
            Instr::Havoc { .. } => {
                return Err(Refused {
                    message: "`havoc` inside an atomic block".to_string(),
                    help: "choose before the block".to_string(),
                });
            }
            Instr::Fence(_) | Instr::Atomic(_) => unreachable!("not in an atomic block"),
        })
    }

    /// Writes a place and leaves the result in `tmp`.
    fn update(
        &self,
        process: usize,
        place: &str,
        domain: Domain,
        op: &Update,
    ) -> Result<Vec<String>, Refused> {
        let memory = format!("mem[{place}]");
        Ok(match op {
            Update::Cas { expected, new } => {
                let (expected, new) = (self.value(process, expected)?, self.value(process, new)?);
                let fits = new
                    .within(domain)
                    .map(|fits| format!("(tmp == 0 || {fits})"));
                let mut actions = check(expected.defined);
                actions.extend(check(new.defined.clone()));
                actions.push(format!("tmp = ({memory} == {})", expected.text));
                actions.extend(check(fits));
                actions.push(format!("{memory} = (tmp != 0 -> {} : {memory})", new.text));
                actions
            }
            Update::Swap(value) => {
                let value = self.value(process, value)?;
                let mut actions = check(value.within(domain));
                actions.push(format!("tmp = {memory}"));
                actions.push(format!("{memory} = {}", value.text));
                actions
            }
            Update::CasOld { expected, new } => {
                let (expected, new) = (self.value(process, expected)?, self.value(process, new)?);
                let differs = format!("{memory} != {}", expected.text);
                let fits = new.within(domain);
                let fits = fits.map(|fits| format!("({differs} || {fits})"));
                let mut actions = check(expected.defined);
                actions.extend(check(new.defined.clone()));
                actions.extend(check(fits));
                actions.push(format!("tmp = {memory}"));
                actions.push(format!("{memory} = ({differs} -> {memory} : {})", new.text));
                actions
            }
            Update::Apply(op, value) => {
                let old = Expr::Atom(Piece::plain(memory.clone(), domain));
                let value = Expr::Atom(self.value(process, value)?);
                let sum = Expr::Binary(*op, Box::new(old), Box::new(value));
                let sum = piece(&sum, &|part: &Piece| Ok(part.clone()))?;
                let mut actions = check(sum.within(domain));
                actions.push(format!("tmp = {memory}"));
                actions.push(format!("{memory} = {}", sum.text));
                actions
            }
        })
    }

    /// An atomic block: if an assumption fails, everything is put back and the process
    /// stays where it is.
    fn atomic(
        &self,
        process: usize,
        body: &[(Instr, Span)],
        to: Loc,
    ) -> Result<Vec<String>, Refused> {
        let pc = format!("pc_{}", self.processes[process].name);
        let instrs = || body.iter().map(|(instr, _)| instr);
        let mut actions = Vec::new();
        if !instrs().any(|instr| matches!(instr, Instr::Guard { .. })) {
            for instr in instrs() {
                actions.extend(self.direct(process, instr)?);
            }
            actions.push(format!("{pc} = {}", to.0));
            return Ok(actions);
        }
        let locals = &self.processes[process].locals;
        let places = 0..self.program.places.len();
        let mut kept: Vec<(String, String)> = places
            .map(|place| (format!("saved[{place}]"), format!("mem[{place}]")))
            .collect();
        for local in changed(instrs()) {
            let index = local.index();
            kept.push((format!("kept[{index}]"), locals[index].clone()));
        }
        actions.extend(kept.iter().map(|(copy, from)| format!("{copy} = {from}")));
        actions.push("ok = true".to_string());
        for instr in instrs() {
            let inside = self.direct(process, instr)?;
            if !inside.is_empty() {
                let inside = inside.join("; ");
                actions.push(format!("if :: ok -> {inside} :: else -> skip fi"));
            }
        }
        let back = kept.iter().map(|(copy, from)| format!("{from} = {copy}"));
        let back: Vec<String> = back.collect();
        actions.push(format!(
            "if :: ok -> {pc} = {} :: else -> {} fi",
            to.0,
            back.join("; ")
        ));
        actions.extend(kept.iter().map(|(copy, _)| format!("{copy} = 0")));
        actions.push("ok = false".to_string());
        Ok(actions)
    }

    fn value(&self, process: usize, expr: &Expr<LocalId>) -> Result<Piece, Refused> {
        let locals = &self.program.processes[process].locals;
        piece(expr, &|local| {
            let name = self.processes[process].locals[local.index()].clone();
            Ok(Piece::plain(name, locals[local.index()].domain))
        })
    }

    /// The number of a place, and the range of its values.
    fn place(&self, process: usize, place: &PlaceRef) -> Result<(Piece, Domain), Refused> {
        let number = Domain {
            low: 0,
            high: self.places.len() as Value,
        };
        let named = |place: PlaceId| (&self.places[place.index()], self.domain(place));
        match place {
            PlaceRef::Scalar(place) => {
                let (name, domain) = named(*place);
                Ok((Piece::plain(name.clone(), number), domain))
            }
            PlaceRef::Cell { first, len, index } => {
                let (first, domain) = named(*first);
                let index = self.value(process, index)?;
                let place = index.cell(*len, number, |index| format!("{first} + {index}"));
                Ok((place, domain))
            }
            PlaceRef::Computed { .. } => Err(Refused::machine()),
        }
    }

    /// Gives a local a value, which must lie in its range.
    fn set(&self, process: usize, local: LocalId, value: &Piece) -> Vec<String> {
        let domain = self.program.processes[process].locals[local.index()].domain;
        let name = &self.processes[process].locals[local.index()];
        let mut actions = check(value.within(domain));
        actions.push(format!("{name} = {}", value.text));
        actions
    }
}

/// An assertion, if there is something to assert.
fn check(condition: Option<String>) -> Vec<String> {
    let assertion = condition.map(|condition| format!("assert({condition})"));
    assertion.into_iter().collect()
}

/// A condition on a place, which fails the assertions of the step if the place is none.
fn guarded(place: &Piece, condition: String) -> String {
    match &place.defined {
        None => condition,
        Some(defined) => format!("(!{defined} || {condition})"),
    }
}

/// The locals that a block changes.
fn changed<'i>(body: impl Iterator<Item = &'i Instr>) -> Vec<LocalId> {
    let mut changed: Vec<LocalId> = body
        .filter_map(|instr| match instr {
            Instr::Assign { local, .. }
            | Instr::Load { local, .. }
            | Instr::Update { local, .. } => Some(*local),
            _ => None,
        })
        .collect();
    changed.sort();
    changed.dedup();
    changed
}
