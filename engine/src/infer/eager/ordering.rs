//! Ordering constraints: the variables of the original method.
//!
//! [a ≺ b] says that a fence stands on every way from store a to memory operation b of the
//! same process. A transition of b while a store of a is pending is prevented by [a ≺ b].
//! Each constraint is replaced by the formula over fence points that enforces it before
//! labels are computed: conjunction and disjunction do not mind, and there are far fewer
//! points than constraints.

use super::{AvoidFormula, label_program};
use crate::formula::{FALSE, FormulaId, Formulas, MOST_VARIABLES, TRUE, TooLarge};
use crate::infer::run::InferenceRun;
use crate::infer::{Literal, Obstacle, Paths, PdPrevent};
use crate::memory::step::{Config, Step};
use crate::memory::{Abstraction, Atomics, Entry, Model};
use crate::program::{
    Edge, EdgeId, FenceKind, Instr, Label, PointId, PointSet, ProcessId, Program,
};
use crate::space::Tag;
use crate::space::avoid::Labels;
use ahash::AHashMap;
use indexmap::IndexSet;
use std::sync::Mutex;

/// An operation and the stores that were pending when it was done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Overtaking {
    process: ProcessId,
    /// In the whole program.
    operation: EdgeId,
    /// Stores that are certainly pending.
    definite: Vec<Label>,
    /// For each buffer with a set: its stores and the latest of them.
    sets: Vec<(Vec<Label>, Option<Label>)>,
}

/// Labels the states of the program as typed, with labelled stores.
pub fn label(run: &mut InferenceRun) -> Result<AvoidFormula, Obstacle> {
    let rules = run.options.ordering;
    let program = run.whole.fenced(&PointSet::new());
    let overtakings: Mutex<IndexSet<Option<Overtaking>>> = Mutex::default();
    let tag = |process: ProcessId, config: &Config, step: &Step| {
        let overtaking = overtaking(&program, process, config, step);
        let mut overtakings = overtakings.lock().expect("no thread panics here");
        Tag(overtakings.insert_full(overtaking).0 as u32)
    };
    let merged = matches!(run.abstraction, Abstraction::Pd { .. });
    let merged = merged.then_some(rules.pd_prevent);
    let prevent = |formulas: &mut Formulas, tag: Tag, enforced: &mut Enforced| {
        let overtakings = overtakings.lock().expect("no thread panics here");
        match &overtakings[tag.index()] {
            None => Ok(FALSE),
            Some(overtaking) => overtaking.prevented(merged, formulas, enforced),
        }
    };
    let whole = run.whole;
    let semantics = &run.options.verify.semantics;
    let points: Vec<PointId> = run.allowed().into_iter().collect();
    let enforcement = Enforcement {
        whole,
        paths: rules.paths,
        drains: semantics.model == Model::Tso || semantics.atomics == Atomics::DrainAll,
        points: points.clone(),
    };
    let most_nodes = run.options.most_nodes;
    let mut known = AHashMap::new();
    let over_points = Labels::new(
        Formulas::new(points.len(), most_nodes)?,
        Box::new(|formulas, tag| {
            prevent(
                formulas,
                tag,
                &mut |formulas, constraint| match known.get(&constraint) {
                    Some(formula) => Ok(*formula),
                    None => {
                        let formula = enforcement.formula(constraint, formulas)?;
                        known.insert(constraint, formula);
                        Ok(formula)
                    }
                },
            )
        }),
    );
    // For people to read, if they want to; if it is too large, it is not shown.
    let literals = run.options.formula.then(|| literals(whole)).flatten();
    let mut labels = vec![over_points];
    if let Some(literals) = &literals
        && let Ok(formulas) = Formulas::new(literals.len(), most_nodes)
    {
        let constraint = |formulas: &mut Formulas, constraint: Constraint| {
            let literal = constraint.literal(whole);
            let index = literals.get_index_of(&literal);
            formulas.variable(index.expect("it orders a store and an operation"))
        };
        let over_constraints = Box::new(move |formulas: &mut Formulas, tag| {
            prevent(formulas, tag, &mut { constraint })
        });
        labels.push(Labels::new(formulas, over_constraints));
    }
    label_program(run, &program, true, &tag, &mut labels)?;
    let mut labels = labels.into_iter();
    let over_points = labels.next().expect("as many as were asked for");
    let variables = points.iter().copied().map(Literal::Point).collect();
    let over_points = AvoidFormula::of(over_points, variables)?;
    run.formula = labels
        .next()
        .zip(literals.as_ref())
        .and_then(|(labels, literals)| {
            let variables = literals.iter().copied().collect();
            AvoidFormula::of(labels, variables).ok()?.clauses()
        });
    Ok(over_points)
}

/// All ordering constraints that there can be, in the order in which they are shown; `None` if
/// there are too many.
fn literals(whole: &Program) -> Option<IndexSet<Literal>> {
    let mut literals = IndexSet::new();
    for process in whole.process_ids() {
        let edges = &whole.process(process).edges;
        let stores = edges.iter().filter_map(|edge| match edge.instr {
            Instr::Store { label, .. } => Some(label),
            _ => None,
        });
        let ids = (0..edges.len() as u32).map(EdgeId);
        let operations = ids.filter(|id| is_operation(&edges[id.index()]));
        let operations: Vec<EdgeId> = operations.collect();
        for store in stores {
            literals.extend(operations.iter().map(|&operation| {
                let constraint = Constraint {
                    process,
                    store,
                    operation,
                };
                constraint.literal(whole)
            }));
            if literals.len() > MOST_VARIABLES {
                return None;
            }
        }
    }
    literals.sort();
    Some(literals)
}

/// What a step overtakes; `None` if it is no memory operation or nothing is pending.
fn overtaking(
    program: &Program,
    process: ProcessId,
    config: &Config,
    step: &Step,
) -> Option<Overtaking> {
    let edge = program.process(process).edge(*step.path.last()?);
    if config.buffers.is_empty() || !is_operation(edge) {
        return None;
    }
    let labels = |entries: &[Entry]| -> Vec<Label> {
        let mut labels: Vec<Label> = entries.iter().filter_map(|entry| entry.label).collect();
        labels.sort();
        labels.dedup();
        labels
    };
    let mut overtaking = Overtaking {
        process,
        operation: edge.origin,
        definite: Vec::new(),
        sets: Vec::new(),
    };
    for segment in config.buffers.segments() {
        overtaking.definite.extend(labels(&segment.head));
        for stores in &segment.unordered {
            let latest = stores.latest.and_then(|latest| latest.label);
            overtaking.sets.push((labels(&stores.set), latest));
        }
    }
    overtaking.definite.sort();
    overtaking.definite.dedup();
    Some(overtaking)
}

/// [store ≺ operation] of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Constraint {
    process: ProcessId,
    store: Label,
    /// In the whole program.
    operation: EdgeId,
}

/// Gives the formula of a constraint.
type Enforced<'a> = dyn FnMut(&mut Formulas, Constraint) -> Result<FormulaId, TooLarge> + 'a;

impl Constraint {
    /// The constraint as it is shown: the same for all instances of a template.
    fn literal(self, whole: &Program) -> Literal {
        let process = whole.process(self.process);
        let stores = process.edges.iter();
        let mut stores = stores.filter(|edge| is_store(edge, self.store));
        let same = |other: &ProcessId| whole.process(*other).template == process.template;
        let first = whole.process_ids().find(same);
        Literal::Order {
            process: first.unwrap_or(self.process),
            store: stores.next().expect("a label is one of a store").span,
            operation: process.edge(self.operation).span,
        }
    }
}

fn is_operation(edge: &Edge) -> bool {
    matches!(
        edge.instr,
        Instr::Store { .. } | Instr::Load { .. } | Instr::Update { .. }
    )
}

fn is_store(edge: &Edge, store: Label) -> bool {
    matches!(edge.instr, Instr::Store { label, .. } if label == store)
}

impl Overtaking {
    /// What prevents it, given how merged sets are read (`None` if every member of a set
    /// is certainly pending).
    fn prevented(
        &self,
        merged: Option<PdPrevent>,
        formulas: &mut Formulas,
        enforced: &mut Enforced,
    ) -> Result<FormulaId, TooLarge> {
        let mut definite = self.definite.clone();
        let mut possible: Vec<Vec<Label>> = Vec::new();
        for (set, latest) in &self.sets {
            match merged {
                None => definite.extend(set),
                Some(PdPrevent::Latest) => definite.extend(latest),
                Some(PdPrevent::Mix | PdPrevent::Literal) => possible.push(set.clone()),
            }
        }
        if merged == Some(PdPrevent::Literal) {
            let all = definite.drain(..).chain(possible.drain(..).flatten());
            possible = vec![all.collect()];
        }
        let mut constraint = |formulas: &mut Formulas, store| {
            let constraint = Constraint {
                process: self.process,
                store,
                operation: self.operation,
            };
            enforced(formulas, constraint)
        };
        let mut any = FALSE;
        for store in definite {
            let constraint = constraint(formulas, store)?;
            any = formulas.or(any, constraint)?;
        }
        for stores in possible {
            let mut all = TRUE;
            for store in stores {
                let constraint = constraint(formulas, store)?;
                all = formulas.and(all, constraint)?;
            }
            any = formulas.or(any, all)?;
        }
        Ok(any)
    }
}

/// How fences enforce constraints.
struct Enforcement<'a> {
    whole: &'a Program,
    paths: Paths,
    /// A read-modify-write waits for all own buffers.
    drains: bool,
    /// The variables.
    points: Vec<PointId>,
}

impl Enforcement<'_> {
    /// A constraint as a formula over fence points. The locations of the process are
    /// labelled with what keeps control from getting there from the store without passing
    /// a fence. Ways have two stages: behind an edge that closes a loop, fences count only
    /// if those on all paths do.
    fn formula(
        &self,
        constraint: Constraint,
        formulas: &mut Formulas,
    ) -> Result<FormulaId, TooLarge> {
        let process = self.whole.process(constraint.process);
        let count = process.locations.len();
        let later = |back: bool| usize::from(back && self.paths == Paths::Acyclic) * count;
        let mut labels = vec![TRUE; 2 * count];
        let mut work = Vec::new();
        for edge in &process.edges {
            if is_store(edge, constraint.store) {
                let at = edge.to.index() + later(edge.back);
                labels[at] = FALSE;
                work.push(at);
            }
        }
        let mut leave = Vec::new();
        for location in &process.locations {
            let variable = self
                .points
                .iter()
                .position(|point| Some(*point) == location.point);
            leave.push(match variable {
                Some(index) => formulas.variable(index)?,
                None => FALSE,
            });
        }
        while let Some(at) = work.pop() {
            let (stage, location) = (at / count * count, at % count);
            let own = match stage {
                0 => formulas.or(labels[at], leave[location])?,
                _ => labels[at],
            };
            for &id in &process.locations[location].out {
                let edge = process.edge(id);
                let waits = match edge.instr {
                    Instr::Fence(FenceKind::Full) | Instr::Atomic(_) => true,
                    Instr::Update { .. } => self.drains,
                    _ => false,
                };
                let to = edge.to.index() + stage.max(later(edge.back));
                let label = formulas.and(labels[to], own)?;
                if !waits && label != labels[to] {
                    labels[to] = label;
                    work.push(to);
                }
            }
        }
        let from = process.edge(constraint.operation).from.index();
        let first = formulas.or(labels[from], leave[from])?;
        formulas.and(first, labels[from + count])
    }
}
