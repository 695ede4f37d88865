//! The answer of `infer` as data: why there is no placement, the JSON.

use super::target::{self, Target};
use super::{NOT_FOR_INTEGERS, finer, growing, nothing_stated, thresholds, unreached};
use crate::describe;
use crate::diagnostic::Diagnostic;
use crate::infer::{
    AllowedGaps, Bounds, Conclusion, EngineKind, InferOptions, Inference, Literal, Obstacle,
    Optimality, Placement,
};
use crate::memory::{AbstractionKind, Model};
use crate::program::{FenceKind, PointId, PointSet, Program, Side};
use crate::property::Violation;
use crate::record::{
    self, InferAnswer, InferConfig, Initial, Mode, SCHEMA, Stats, Step, Stopped, Timing,
};
use crate::source::{Source, Span};
use crate::space::{Standstill, Trace};
use crate::verify::Strategy;

/// An inference and what it was asked about.
#[derive(Debug)]
pub struct InferReport<'a> {
    pub source: &'a Source,
    /// The whole program, with all of its points.
    pub program: &'a Program,
    pub options: &'a InferOptions,
    pub request: Request<'a>,
    pub found: &'a Inference,
    pub seconds: f64,
}

/// What was asked for beyond the options of the inference.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub place: AllowedGaps,
    /// What a fence costs, as a person says it.
    pub cost: &'a str,
    pub per_process: bool,
    /// The machine to name instructions for.
    pub target: Option<Target>,
}

impl InferReport<'_> {
    /// The placement found; it is empty if no fence is needed.
    pub fn best(&self) -> Option<&Placement> {
        match &self.found.conclusion {
            Conclusion::Correct(none) => Some(none),
            Conclusion::Placed(placed) => Some(&placed.best),
            _ => None,
        }
    }

    /// The best placement that was verified and what one costs at least, if there is no answer.
    pub fn bounds(&self) -> Option<&Bounds> {
        self.found.bounds.as_ref()
    }

    /// The best placement that is known: the answer, or what was verified on the way.
    pub fn known(&self) -> Option<&Placement> {
        let so_far = || self.bounds().map(|bounds| &bounds.best);
        self.best().or_else(so_far)
    }

    /// The execution that no fence can prevent: the program with the fences that it has
    /// passed all the same, what is wrong at its end, and the execution.
    pub fn execution(&self) -> Option<(Program, Violation, &Trace)> {
        match &self.found.conclusion {
            Conclusion::IncorrectUnderSc(violation, trace) => {
                Some((self.program.fenced(&PointSet::new()), *violation, trace))
            }
            Conclusion::Unfixable(found) => {
                let program = self.program.fenced(&found.fences);
                Some((program, found.violation, &found.trace))
            }
            _ => None,
        }
    }

    /// What makes an answer weaker than it looks.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let mut warnings = growing(self.program);
        if self.best().is_some() {
            warnings.extend(nothing_stated(self.program, &self.options.verify));
        }
        if let Some(coverage) = &self.found.coverage {
            warnings.extend(unreached(self.program, coverage, Model::Sc));
        }
        warnings
    }

    /// Why there is no placement, and what to try.
    pub fn reason(&self) -> Option<String> {
        let abstraction = self.found.abstraction;
        Some(match &self.found.conclusion {
            Conclusion::Correct(_) | Conclusion::Placed(_) => return None,
            Conclusion::IncorrectUnderSc(..) => {
                "it is wrong even under sequential consistency, which no fence can mend".to_string()
            }
            Conclusion::Unfixable(..) => {
                let try_ = match self.request.place {
                    AllowedGaps::Anywhere => "",
                    _ => "; try --place anywhere",
                };
                format!("an execution of the exact model passes no point where a fence may stand{try_}")
            }
            Conclusion::Inconclusive(Obstacle::FormulaTooLarge) => {
                "no placement: the formulas have grown too large; try --engine lazy, or a larger --max-formula-nodes".to_string()
            }
            Conclusion::Inconclusive(Obstacle::CostsTooLarge) => {
                "no placement: the costs of all points together do not fit in 64 bits; only their ratios matter, so scale them down".to_string()
            }
            Conclusion::Inconclusive(Obstacle::Limit(reason)) if self.found.bounds.is_some() => {
                reason.to_string()
            }
            Conclusion::Inconclusive(Obstacle::Limit(reason)) => format!("no placement yet: {reason}"),
            Conclusion::Inconclusive(Obstacle::TooCoarse) => {
                let finer = match self.request.place {
                    AllowedGaps::Anywhere => finer(abstraction, &self.options.verify),
                    _ => Some("try --place anywhere".to_string()),
                };
                let finer = finer.map_or(String::new(), |finer| format!("; {finer}"));
                format!(
                    "under {abstraction} no placement verifies: a counterexample that is not real passes no point where a fence may stand{finer}"
                )
            }
            Conclusion::Inconclusive(Obstacle::Inexpressible) => format!(
                "the formula under {abstraction} allows no placement, although fences everywhere are enough; try --engine lazy"
            ),
            Conclusion::Inconclusive(Obstacle::Diverging) => {
                "to tell the program's integers apart, more and more constants are needed; say what relates them in an `invariant` or an `assume`, or give them ranges".to_string()
            }
            Conclusion::Inconclusive(Obstacle::Integers) => NOT_FOR_INTEGERS.to_string(),
            Conclusion::Inconclusive(Obstacle::Heap) => {
                "no placement verifies: more blocks of memory are allocated than there are; try a larger --heap".to_string()
            }
            Conclusion::Inconclusive(Obstacle::Unverified) => format!(
                "a placement that satisfies the formula does not verify under {abstraction}; try --engine lazy"
            ),
        })
    }

    /// A point in words: `after line 19 'store turn = 1 - i'`.
    pub fn place(&self, point: PointId) -> String {
        let point = &self.program.points[point.index()];
        let site = point.sites[0];
        let line = self.source.location(site.statement.start).line();
        let side = site.side;
        let text = describe::one_line(self.source, site.statement);
        let process = point.process.as_ref().map(|name| format!(" in {name}"));
        let process = process.unwrap_or_default();
        match side {
            Side::Release | Side::SeqCst => {
                format!("{side} for '{text}' in line {line}{process}")
            }
            _ => format!("{side} line {line} '{text}'{process}"),
        }
    }

    /// The name of the process text that a point stands in.
    pub fn template(&self, point: PointId) -> &str {
        let template = self.program.points[point.index()].template;
        let mut processes = self.program.processes.iter();
        let process = processes.find(|process| process.template == template);
        process.map_or("", |process| process.name.split('[').next().unwrap_or(""))
    }

    /// The answer in the words of the contract.
    pub fn record(&self) -> InferAnswer {
        let (placements, optimality) = match &self.found.conclusion {
            Conclusion::Placed(placed) => (&placed.all[..], placed.optimality),
            // Nothing is cheaper than no fence.
            _ => (&[][..], Optimality::Exact),
        };
        let best = self.best();
        let placement = best.map(|best| self.placement_record(best, optimality));
        let execution = self.execution();
        let ordering = self.options.engine == EngineKind::Ordering;
        let rules = ordering.then_some(self.options.ordering);
        let labels = self.options.engine != EngineKind::Lazy;
        let pd = self.found.abstraction.kind() == AbstractionKind::Pd;
        let semantics = &self.options.verify.semantics;
        InferAnswer {
            schema: SCHEMA.to_string(),
            tool: env!("CARGO_PKG_VERSION").to_string(),
            command: Mode::Infer,
            program: self.source.name().to_string(),
            source: Some(self.source.main_text().to_string()),
            config: InferConfig {
                model: semantics.model,
                abstraction: self.found.abstraction.kind(),
                k: self.found.abstraction.k(),
                refined: self.options.verify.strategy != Strategy::Fixed
                    && !semantics.abstraction.is_logs(),
                engine: self.options.engine,
                whole: labels.then_some(self.options.whole),
                paths: rules.map(|rules| rules.paths),
                pd_merge: (labels && pd).then_some(self.options.pd_merge),
                pd_prevent: rules.map(|rules| rules.pd_prevent),
                place: self.request.place,
                cost: self.request.cost.to_string(),
                per_process: self.request.per_process,
                robust: self.options.verify.robust,
                stuck: self.options.verify.standstill == Standstill::Stuck,
                atomics: semantics.atomics,
                fuse: semantics.fuse,
            },
            outcome: (&self.found.conclusion).into(),
            stopped: match self.found.conclusion {
                Conclusion::Inconclusive(obstacle) => stopped_by(obstacle),
                _ => None,
            },
            reason: self.reason(),
            placement,
            so_far: self
                .bounds()
                .map(|bounds| self.placement_record(&bounds.best, Optimality::Unknown)),
            placements: self.options.all.map(|_| {
                let all = placements.iter();
                all.map(|p| {
                    let cheapest = p.cost == placements[0].cost;
                    let known = Some(optimality).filter(|_| cheapest);
                    self.placement_record(p, known.unwrap_or(Optimality::Unknown))
                })
                .collect()
            }),
            initial: execution
                .as_ref()
                .map(|(program, _, t)| Initial::new(program, self.source, &t.initial)),
            trace: execution
                .as_ref()
                .map(|(program, _, t)| Step::all(program, self.source, t)),
            tried: Some(self.found.tried.clone()),
            thresholds: thresholds(self.program, &self.found.thresholds),
            lower_bound: match &self.found.conclusion {
                Conclusion::Placed(placed) => Some(placed.lower_bound),
                _ => self.bounds().map(|bounds| bounds.lower),
            },
            assumption: self
                .request
                .target
                .and_then(|target| target::assumption(target, semantics.model)),
            warnings: self.warnings().into_iter().map(|w| w.message).collect(),
            removable: self.found.removable.as_ref().map(|removable| {
                let fences = removable.fences.iter();
                fences
                    .map(|(span, kind)| self.own_fence(*span, *kind))
                    .collect()
            }),
            removable_complete: self.found.removable.as_ref().map(|found| found.is_most),
            formula: self.found.formula.as_ref().map(|formula| record::Formula {
                clauses: formula
                    .clauses
                    .iter()
                    .map(|clause| clause.iter().map(|l| self.literal(*l)).collect())
                    .collect(),
                minimal_solutions: formula.solutions,
            }),
            stats: Some(Stats {
                states: self.found.states,
                transitions: self.found.transitions,
                peak_states: Some(self.found.peak),
                rounds: Some(self.found.rounds),
                clauses: Some(self.found.clauses.len()),
                formulas: self.found.labelling.map(|l| l.formulas),
                formula_nodes: self.found.labelling.map(|l| l.nodes),
                updates: self.found.labelling.map(|l| l.updates),
                ..Stats::default()
            }),
            timing: Some(Timing {
                total_s: self.seconds,
                states_per_s: None,
                peak_bytes: None,
            }),
        }
    }

    fn placement_record(&self, placement: &Placement, optimality: Optimality) -> record::Placement {
        let fences = placement.fences.iter().zip(&placement.kinds).enumerate();
        let fences = fences.map(|(index, (&id, &kind))| {
            let point = &self.program.points[id.index()];
            let site = point.sites[0];
            let location = self.source.location(site.statement.start);
            let mut fewer = placement.fences.clone();
            fewer.remove(&id);
            let program = self.program.fenced(&fewer);
            let without = placement.why.get(index);
            let why = without.and_then(|without| without.counterexample.as_ref());
            let why = why.map(|(_, trace)| trace);
            record::Fence {
                process: point
                    .process
                    .clone()
                    .unwrap_or_else(|| self.template(id).to_string()),
                file: location.file.map(str::to_string),
                line: location.at.line,
                column: location.at.column,
                position: site.side,
                text: describe::one_line(self.source, site.statement),
                kind,
                instruction: self
                    .request
                    .target
                    .map(|target| target::instruction(target, kind).to_string()),
                without: without.map(|without| without.verdict.into()),
                why: why.map(|why| Step::all(&program, self.source, why)),
                why_initial: why.map(|why| Initial::new(&program, self.source, &why.initial)),
            }
        });
        record::Placement {
            cost: placement.cost,
            kinds_cost: placement.price,
            verified: true,
            optimality,
            fences: fences.collect(),
        }
    }

    fn own_fence(&self, span: Span, kind: FenceKind) -> record::OwnFence {
        let location = self.source.location(span.start);
        record::OwnFence {
            file: location.file.map(str::to_string),
            line: location.at.line,
            column: location.at.column,
            text: describe::one_line(self.source, span),
            kind,
        }
    }

    /// A variable of a formula in words.
    pub fn literal(&self, literal: Literal) -> String {
        let statement = |span: Span| {
            let line = self.source.location(span.start).line();
            format!("line {line} '{}'", describe::one_line(self.source, span))
        };
        match literal {
            Literal::Point(point) => format!("a fence {}", self.place(point)),
            Literal::Order {
                process,
                store,
                operation,
            } => {
                let name = &self.program.process(process).name;
                let template = name.split('[').next().unwrap_or(name);
                let (store, operation) = (statement(store), statement(operation));
                format!("{template}: [{store} ≺ {operation}]")
            }
        }
    }
}

/// The limit that an obstacle is, if it is one.
pub fn stopped_by(obstacle: Obstacle) -> Option<Stopped> {
    match obstacle {
        Obstacle::Limit(reason) => Some(reason.into()),
        Obstacle::FormulaTooLarge => Some(Stopped::Formula),
        Obstacle::CostsTooLarge
        | Obstacle::TooCoarse
        | Obstacle::Inexpressible
        | Obstacle::Unverified
        | Obstacle::Diverging
        | Obstacle::Integers
        | Obstacle::Heap => None,
    }
}
