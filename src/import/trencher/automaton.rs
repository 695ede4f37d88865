//! Automata in the native language.

use super::Together;
use super::parse::{File, Instruction, Thread, Transition, Word};
use super::waiting;
use crate::diagnostic::Diagnostic;
use crate::import::build;
use crate::import::names::Names;
use crate::import::scan::shortened;
use crate::lang::ast::{
    Ast, Expr, ExprKind, Item, Place, Predicate, ProcessRef, Property, Stmt, StmtKind, Type,
    Variable,
};
use crate::lang::diagnostics::Diagnostics;
use crate::program::{BinaryOp, FenceKind, PropertyKind};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The memory of a program that does not say how much it needs.
const DEFAULT_SIZE: i64 = 10;

/// The program of the threads; what is wrong goes to the diagnostics.
pub fn translate(file: &File, forbid: &[Together], diagnostics: &mut Diagnostics) -> Ast {
    let mut names = Names::native();
    let memory = names.fresh("mem");
    let size = size(file, diagnostics);
    let start = file.threads[0].name.span;
    let variable = Variable {
        name: build::name(&memory, start),
        len: Some(build::int(size, start)),
        init: None,
    };
    let mut items = vec![Item::Shared(build::declare(
        Type::Int,
        vec![variable],
        start,
    ))];
    let native: Vec<String> = file
        .threads
        .iter()
        .map(|t| names.fresh(t.name.text))
        .collect();
    let mut all = Vec::new();
    for (thread, name) in file.threads.iter().zip(&native) {
        let automaton = Automaton::new(thread, &memory);
        let mut locals = names.clone();
        let registers: BTreeMap<&str, String> = registers(thread)
            .into_iter()
            .map(|register| (register, locals.fresh(register)))
            .collect();
        let span = thread.name.span;
        let variables = registers
            .values()
            .map(|name| build::variable(name, 0, span));
        let declared = build::declare(Type::Int, variables.collect(), span);
        let named: BTreeSet<&str> = forbid
            .iter()
            .flat_map(|together| &together.0)
            .filter(|(owner, _)| owner == thread.name.text)
            .map(|(_, state)| state.as_str())
            .collect();
        let statements = automaton.statements(&registers, &named, diagnostics);
        let process = build::process(name, vec![declared], statements, span);
        items.push(Item::Process(process));
        all.push((name, automaton));
    }
    for together in forbid {
        items.extend(property(file, &all, together, diagnostics).map(Item::Property));
    }
    Ast { items }
}

/// The number of cells: as many as are addressed by numbers, or as declared.
fn size(file: &File, diagnostics: &mut Diagnostics) -> i64 {
    let limit = file.size.unwrap_or(DEFAULT_SIZE);
    let mut largest = 0;
    let transitions = file.threads.iter().flat_map(|t| &t.transitions);
    for transition in transitions {
        let (Instruction::Write { address, .. } | Instruction::Read { address, .. }) =
            &transition.instruction
        else {
            continue;
        };
        match address.kind {
            ExprKind::Int(address_value) if !(0..limit).contains(&address_value) => {
                let message = format!("the address {address_value} lies outside memory");
                let help = format!("addresses are 0 to {}; see `memory_size`", limit - 1);
                diagnostics.push(Diagnostic::error(address.span, message).help(help));
            }
            ExprKind::Int(value) => largest = largest.max(value + 1),
            _ => largest = limit,
        }
    }
    largest.max(1)
}

fn registers<'a>(thread: &'a Thread<'a>) -> BTreeSet<&'a str> {
    fn inside<'e>(expr: &'e Expr, out: &mut BTreeSet<&'e str>) {
        match &expr.kind {
            ExprKind::Name(name) => {
                out.insert(name);
            }
            ExprKind::Unary { operand, .. } => inside(operand, out),
            ExprKind::Binary { left, right, .. } => {
                inside(left, out);
                inside(right, out);
            }
            _ => {}
        }
    }
    let mut out = BTreeSet::new();
    for transition in &thread.transitions {
        match &transition.instruction {
            Instruction::Write { value, address } => {
                inside(value, &mut out);
                inside(address, &mut out);
            }
            Instruction::Read { register, address } => {
                out.insert(register.text);
                inside(address, &mut out);
            }
            Instruction::Local { register, value } => {
                out.insert(register.text);
                inside(value, &mut out);
            }
            Instruction::Check(condition) => inside(condition, &mut out),
            _ => {}
        }
    }
    out
}

fn property(
    file: &File,
    threads: &[(&String, Automaton)],
    together: &Together,
    diagnostics: &mut Diagnostics,
) -> Option<Property> {
    let mut positions = Vec::new();
    let mut last = None;
    for (owner, state) in &together.0 {
        let index = file.threads.iter().position(|t| t.name.text == owner);
        let known = index.and_then(|index| {
            let (name, automaton) = &threads[index];
            let label = automaton.labels.get(state.as_str())?;
            Some((*name, label, automaton.arrival(state)))
        });
        let Some((name, label, at)) = known else {
            let message = match index {
                None => format!("there is no thread '{}' to forbid", shortened(owner)),
                Some(_) => format!("'{}' has no state '{}'", shortened(owner), shortened(state)),
            };
            let at = index.map_or(Span::new(0, 0), |index| file.threads[index].name.span);
            diagnostics.push(Diagnostic::error(at, message));
            return None;
        };
        last = Some(at);
        let process = ProcessRef {
            name: build::name(name, at),
            index: None,
            span: at,
        };
        let label = build::name(label, at);
        positions.push(build::expr(ExprKind::At { process, label }, at));
    }
    Some(Property {
        kind: PropertyKind::Forbid,
        predicate: Predicate::Expr(build::chain(BinaryOp::And, positions)?),
        span: last?,
    })
}

/// More ways than this through a locked part are refused.
const MOST_PATHS: usize = 64;

/// One way from `lock` to `unlock`.
struct LockedPath<'f> {
    body: Vec<&'f Transition<'f>>,
    /// The state behind `unlock`.
    to: &'f str,
}

/// Why something is no locked part, and where.
type Unlocked = (Span, &'static str);

/// A thread, by its states.
struct Automaton<'f> {
    thread: &'f Thread<'f>,
    memory: &'f str,
    /// The label of each state.
    labels: BTreeMap<&'f str, String>,
    leaving: BTreeMap<&'f str, Vec<&'f Transition<'f>>>,
    entering: BTreeMap<&'f str, Vec<&'f Transition<'f>>>,
    /// The states in which the thread has the lock.
    inside: BTreeSet<&'f str>,
}

impl<'f> Automaton<'f> {
    fn new(thread: &'f Thread<'f>, memory: &'f str) -> Automaton<'f> {
        let mut names = Names::native();
        let mut automaton = Automaton {
            thread,
            memory,
            labels: BTreeMap::new(),
            leaving: BTreeMap::new(),
            entering: BTreeMap::new(),
            inside: BTreeSet::new(),
        };
        let states = thread.transitions.iter().flat_map(|t| [t.from, t.to]);
        for state in thread.initial.into_iter().chain(states) {
            let labels = &mut automaton.labels;
            labels
                .entry(state.text)
                .or_insert_with(|| names.fresh(state.text));
        }
        for transition in &thread.transitions {
            let leaving = automaton.leaving.entry(transition.from.text).or_default();
            leaving.push(transition);
            let entering = automaton.entering.entry(transition.to.text).or_default();
            entering.push(transition);
        }
        let locks = thread.transitions.iter();
        let locks = locks.filter(|transition| matches!(transition.instruction, Instruction::Lock));
        let mut work: Vec<&str> = locks.map(|transition| transition.to.text).collect();
        while let Some(state) = work.pop() {
            if automaton.inside.insert(state) {
                let leaving = automaton.leaving.get(state).into_iter().flatten();
                let held = leaving.filter(|t| !matches!(t.instruction, Instruction::Unlock));
                work.extend(held.map(|transition| transition.to.text));
            }
        }
        automaton
    }

    /// The states in the order in which a reader follows them: each before those that its
    /// transitions lead to.
    fn order(&self) -> Vec<&'f str> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        let mut work: Vec<&str> = self.thread.initial.iter().map(|w| w.text).collect();
        while let Some(state) = work.pop() {
            if seen.insert(state) {
                order.push(state);
                let leaving = self.leaving.get(state).into_iter().flatten();
                let targets = leaving.map(|transition| self.targets(transition));
                let targets: Vec<&str> = targets.flatten().collect();
                work.extend(targets.into_iter().rev());
            }
        }
        order
    }

    /// Where a transition leads: a locked part leads behind its ends.
    fn targets(&self, transition: &'f Transition<'f>) -> Vec<&'f str> {
        let locked = match transition.instruction {
            Instruction::Lock => self.locked(transition).ok(),
            _ => None,
        };
        match locked {
            Some(paths) => paths.iter().map(|path| path.to).collect(),
            None => vec![transition.to.text],
        }
    }

    /// The ways from `lock` to `unlock`, or the reason why it is no locked part.
    fn locked(&self, lock: &'f Transition<'f>) -> Result<Vec<LockedPath<'f>>, Unlocked> {
        let mut paths = Vec::new();
        self.walk_locked(lock.to, &mut vec![lock], &mut paths)?;
        match paths.is_empty() {
            true => Err((lock.to.span, "the locked part has a loop")),
            false => Ok(paths),
        }
    }

    /// Adds all ways that go on from a state behind some transitions, the first of which is the
    /// `lock`.
    fn walk_locked(
        &self,
        at: Word<'f>,
        so_far: &mut Vec<&'f Transition<'f>>,
        paths: &mut Vec<LockedPath<'f>>,
    ) -> Result<(), Unlocked> {
        let initial = self.thread.initial.is_some_and(|word| word.text == at.text);
        let mut entering = self.entering.get(at.text).into_iter().flatten();
        let outside = |entry: &Transition| match entry.instruction {
            Instruction::Lock => false,
            _ => !self.inside.contains(entry.from.text),
        };
        if initial || entering.any(|entry| outside(entry)) {
            return Err((at.span, "the locked part can be entered in the middle"));
        }
        let mut passed = so_far.iter().skip(1);
        if let Some(round) = passed.position(|passed| passed.from.text == at.text) {
            let leaves = |state: &str| self.leaving.get(state).map_or(0, Vec::len);
            return match waiting::for_ever(&so_far[1 + round..], |state| leaves(state) == 1) {
                true => Ok(()),
                false => Err((at.span, "the locked part has a loop")),
            };
        }
        let leaving = self.leaving.get(at.text).map_or(&[][..], Vec::as_slice);
        if leaving.is_empty() {
            return Err((at.span, "the locked part does not end with `unlock`"));
        }
        for next in leaving {
            match next.instruction {
                Instruction::Lock => return Err((next.span, "`lock` inside a locked part")),
                Instruction::Unlock if paths.len() == MOST_PATHS => {
                    return Err((next.span, "there are too many ways through the locked part"));
                }
                Instruction::Unlock => paths.push(LockedPath {
                    body: so_far[1..].to_vec(),
                    to: next.to.text,
                }),
                _ => {
                    so_far.push(next);
                    self.walk_locked(next.to, so_far, paths)?;
                    so_far.pop();
                }
            }
        }
        Ok(())
    }

    fn statements(
        &self,
        registers: &BTreeMap<&str, String>,
        named: &BTreeSet<&str>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Stmt> {
        let order = self.order();
        let mut statements = Vec::new();
        let (mut errors, mut unlocks) = (Vec::new(), Vec::new());
        for (index, state) in order.iter().enumerate() {
            let next = order.get(index + 1).copied();
            let leaving = self.leaving.get(state).map_or(&[][..], Vec::as_slice);
            let mut branches = Vec::new();
            for transition in leaving {
                match self.transition(transition, registers, named) {
                    Ok(branch) => branches.push(branch),
                    Err((span, message)) => match transition.instruction {
                        Instruction::Unlock => unlocks.push(Diagnostic::error(span, message)),
                        _ => errors.push(Diagnostic::error(span, message)),
                    },
                }
            }
            let label = &self.labels[state];
            match (leaving, &mut branches[..]) {
                ([], _) => {
                    let at = self.arrival(state);
                    let stop = build::stmt(StmtKind::Stop, at);
                    let labelled = build::labelled(label, at, stop);
                    let block = build::block(vec![labelled], at);
                    statements.push(build::stmt(StmtKind::Nofence(block), at));
                }
                ([only], [(statement, Some(to))]) => {
                    let mut labelled = build::labelled(label, only.line, statement.clone());
                    labelled.span = only.line;
                    statements.push(labelled);
                    if next != Some(*to) {
                        statements.push(build::goto(&self.labels[to], only.to.span));
                    }
                }
                ([only], [(statement, None)]) => {
                    let mut labelled = build::labelled(label, only.line, statement.clone());
                    labelled.span = only.line;
                    statements.push(labelled);
                }
                ([first, ..], branches) => {
                    let from = first.from.span;
                    let blocks = branches.iter().zip(leaving).map(|((statement, to), t)| {
                        let jump = to.map(|to| build::goto(&self.labels[to], t.to.span));
                        let parts = std::iter::once(statement.clone()).chain(jump);
                        build::block(parts.collect(), t.line)
                    });
                    let either = build::stmt(StmtKind::Either(blocks.collect()), from);
                    let keyword = Span {
                        start: first.line.start,
                        end: from.end,
                    };
                    let mut labelled = build::labelled(label, keyword, either);
                    labelled.span = keyword;
                    statements.push(labelled);
                }
            }
        }
        // A locked part that is refused leaves its `unlock` behind.
        let all = if errors.is_empty() { unlocks } else { errors };
        all.into_iter().for_each(|error| diagnostics.push(error));
        statements
    }

    /// Where a state is named: as a target, or as the initial one.
    fn arrival(&self, state: &str) -> Span {
        let first = self.entering.get(state).and_then(|all| all.first());
        let initial = self.thread.initial;
        let named = first.map(|transition| transition.to).or(initial);
        named.map_or(self.thread.name.span, |word| word.span)
    }

    /// A transition's instruction, and the state it leads to, unless it jumps there itself.
    fn transition(
        &self,
        transition: &'f Transition<'f>,
        registers: &BTreeMap<&str, String>,
        named: &BTreeSet<&str>,
    ) -> Result<(Stmt, Option<&'f str>), (Span, String)> {
        let span = transition.span;
        let to = Some(transition.to.text);
        match &transition.instruction {
            Instruction::Lock => {
                let refused = |(span, reason): (Span, &str)| {
                    (span, format!("this cannot be an atomic block: {reason}"))
                };
                let paths = self.locked(transition).map_err(refused)?;
                let bodies = paths.iter().flat_map(|path| &path.body);
                let mut inside = std::iter::once(transition.to).chain(bodies.map(|t| t.to));
                if let Some(state) = inside.find(|w| named.contains(w.text)) {
                    let message = "a state inside a locked part cannot be forbidden".to_string();
                    return Err((state.span, message));
                }
                let atomic = |path: &LockedPath| {
                    let body = path.body.iter().map(|t| self.simple(t, registers));
                    let block = build::block(body.collect(), span);
                    build::stmt(StmtKind::Atomic(block), span)
                };
                if let [only] = &paths[..] {
                    return Ok((atomic(only), Some(only.to)));
                }
                // One of the ways whose conditions hold; no fence can stand among them.
                let ways = paths.iter().map(|path| {
                    let jump = build::goto(&self.labels[path.to], span);
                    build::block(vec![atomic(path), jump], span)
                });
                let either = build::stmt(StmtKind::Either(ways.collect()), span);
                let block = build::block(vec![either], span);
                Ok((build::stmt(StmtKind::Nofence(block), span), None))
            }
            Instruction::Unlock => Err((span, "`unlock` without `lock`".to_string())),
            Instruction::Fence => Ok((build::stmt(StmtKind::Fence(FenceKind::Full), span), to)),
            _ => Ok((self.simple(transition, registers), to)),
        }
    }

    /// An instruction other than `lock` and `unlock`; inside a locked part the buffers are
    /// empty, and a fence does nothing.
    fn simple(&self, transition: &Transition, registers: &BTreeMap<&str, String>) -> Stmt {
        let span = transition.span;
        let expr = |e: &Expr| renamed(e, registers);
        let place = |address: &Expr| Place {
            name: build::name(self.memory, span),
            index: Some(Box::new(expr(address))),
            span,
        };
        match &transition.instruction {
            Instruction::Write { value, address } => {
                build::store(place(address), expr(value), span)
            }
            Instruction::Read { register, address } => {
                build::load(&registers[register.text], place(address), span)
            }
            Instruction::Local { register, value } => {
                build::assign(&registers[register.text], expr(value), span)
            }
            Instruction::Check(condition) => build::assume(expr(condition), span),
            _ => build::stmt(StmtKind::Skip, span),
        }
    }
}

fn renamed(expr: &Expr, registers: &BTreeMap<&str, String>) -> Expr {
    let kind = match &expr.kind {
        ExprKind::Name(name) => ExprKind::Name(registers[name.as_str()].clone()),
        ExprKind::Unary { op, operand } => ExprKind::Unary {
            op: *op,
            operand: Box::new(renamed(operand, registers)),
        },
        ExprKind::Binary { op, left, right } => ExprKind::Binary {
            op: *op,
            left: Box::new(renamed(left, registers)),
            right: Box::new(renamed(right, registers)),
        },
        other => other.clone(),
    };
    build::expr(kind, expr.span)
}
