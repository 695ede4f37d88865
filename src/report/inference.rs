//! The answer of `infer` as data: why there is no placement, the JSON.

use super::json::{self, SCHEMA};
use super::target::{self, Target};
use super::{describe, trace};
use crate::infer::{
    self, Engine, Literal, Optimality, Outcome, Paths, PdPrevent, Placement, Reason, Where,
};
use crate::program::{FenceKind, PointId, PointSet, Program};
use crate::property::Violation;
use crate::source::{Source, Span};
use crate::space::{StopReason, Trace};
use crate::verify::Abstraction;

/// An inference and what it was asked about.
#[derive(Debug)]
pub struct Inferred<'a> {
    pub source: &'a Source,
    /// The whole program, with all of its points.
    pub program: &'a Program,
    pub options: &'a infer::Options,
    pub asked: Asked<'a>,
    pub found: &'a infer::Inference,
    pub seconds: f64,
}

/// What was asked for beyond the options of the inference.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub place: Where,
    /// What a fence costs, as a person says it.
    pub cost: &'a str,
    pub per_process: bool,
    /// The machine to name instructions for.
    pub target: Option<Target>,
}

impl Inferred<'_> {
    /// The placement found; it is empty if no fence is needed.
    pub fn best(&self) -> Option<&Placement> {
        match &self.found.outcome {
            Outcome::Correct(none) => Some(none),
            Outcome::Placed(placed) => Some(&placed.best),
            _ => None,
        }
    }

    /// The execution that no fence can prevent: the program with the fences that it has
    /// passed all the same, what is wrong at its end, and the execution.
    pub fn execution(&self) -> Option<(Program, Violation, &Trace)> {
        match &self.found.outcome {
            Outcome::IncorrectUnderSc(violation, trace) => {
                Some((self.program.fenced(&PointSet::new()), *violation, trace))
            }
            Outcome::Unfixable(found) => {
                let program = self.program.fenced(&found.fences);
                Some((program, found.violation, &found.trace))
            }
            _ => None,
        }
    }

    /// Why there is no placement, and what to try.
    pub fn reason(&self) -> Option<String> {
        let abstraction = self.found.abstraction;
        Some(match &self.found.outcome {
            Outcome::Correct(_) | Outcome::Placed(_) => return None,
            Outcome::IncorrectUnderSc(..) => {
                "it is wrong even under sequential consistency, which no fence can mend".to_string()
            }
            Outcome::Unfixable(..) => {
                "an execution of the exact model passes no point where a fence may stand; try --place anywhere".to_string()
            }
            Outcome::Inconclusive(Reason::Limit(StopReason::MaxFormula)) => {
                "no placement: the formulas have grown too large; try --engine lazy, or a larger --max-formula-nodes".to_string()
            }
            Outcome::Inconclusive(Reason::Limit(reason)) => format!("no placement yet: {reason}"),
            Outcome::Inconclusive(Reason::TooCoarse) => format!(
                "under {abstraction} no placement verifies: a counterexample that is not real passes no point where a fence may stand; try --abs fd with a larger --k"
            ),
            Outcome::Inconclusive(Reason::Inexpressible) => format!(
                "the formula under {abstraction} allows no placement, although fences everywhere are enough; try --engine lazy"
            ),
            Outcome::Inconclusive(Reason::Unverified) => format!(
                "a placement that satisfies the formula does not verify under {abstraction}; try --engine lazy"
            ),
        })
    }

    /// A point in words: `after line 19 'store turn = 1 - i'`.
    pub fn place(&self, point: PointId) -> String {
        let point = &self.program.points[point.index()];
        let site = point.sites[0];
        let line = self.source.position(site.statement.start).line;
        let side = describe::side(site.side);
        let text = describe::one_line(self.source, site.statement);
        let process = point.process.as_ref().map(|name| format!(" in {name}"));
        format!("{side} line {line} '{text}'{}", process.unwrap_or_default())
    }

    /// The name of the process text that a point stands in.
    pub fn template(&self, point: PointId) -> &str {
        let template = self.program.points[point.index()].template;
        let mut processes = self.program.processes.iter();
        let process = processes.find(|process| process.template == template);
        process.map_or("", |process| process.name.split('[').next().unwrap_or(""))
    }

    /// The answer in the words of the contract.
    pub fn json(&self) -> json::Inference {
        let (placements, optimality) = match &self.found.outcome {
            Outcome::Placed(placed) => (&placed.all[..], Some(placed.optimality)),
            _ => (&[][..], None),
        };
        let optimality = optimality.map(|optimality| match optimality {
            Optimality::Exact => json::Optimality::Exact,
            Optimality::UnderAbstraction => json::Optimality::UnderAbstraction,
            Optimality::Unknown => json::Optimality::Unknown,
        });
        let unknown = json::Optimality::Unknown;
        let best = self.best();
        // Nothing is cheaper than no fence.
        let placement = best
            .map(|best| self.placement_json(best, optimality.unwrap_or(json::Optimality::Exact)));
        let execution = self.execution();
        let (abstraction, k) = match self.found.abstraction {
            Abstraction::Pd { k } => ("pd", k),
            Abstraction::Fd { k } => ("fd", k),
            Abstraction::Set | Abstraction::Exact { .. } => unreachable!("refused before"),
        };
        let rules = match self.options.engine {
            Engine::Ordering(rules) => Some(rules),
            Engine::Lazy | Engine::Points => None,
        };
        json::Inference {
            schema: SCHEMA,
            tool: env!("CARGO_PKG_VERSION"),
            command: "infer",
            program: self.source.name().to_string(),
            source: Some(self.source.text().to_string()),
            config: json::InferConfig {
                model: self.options.verify.model.to_string(),
                abstraction,
                k,
                engine: match self.options.engine {
                    Engine::Lazy => "lazy",
                    Engine::Points => "points",
                    Engine::Ordering(_) => "ordering",
                },
                paths: rules.map(|rules| match rules.paths {
                    Paths::All => "all",
                    Paths::Acyclic => "acyclic",
                }),
                pd_prevent: rules.map(|rules| match rules.pd_prevent {
                    PdPrevent::Mix => "mix",
                    PdPrevent::Literal => "literal",
                    PdPrevent::Latest => "latest",
                }),
                place: match self.asked.place {
                    Where::Anywhere => "anywhere",
                    Where::AfterStore => "after-store",
                    Where::BeforeLoad => "before-load",
                },
                cost: self.asked.cost.to_string(),
                per_process: self.asked.per_process,
                atomics: self.options.verify.atomics.to_string(),
                fuse: self.options.verify.fuse,
            },
            outcome: match &self.found.outcome {
                Outcome::Correct(_) => json::Outcome::Correct,
                Outcome::Placed(_) => json::Outcome::Placed,
                Outcome::IncorrectUnderSc(..) => json::Outcome::IncorrectUnderSc,
                Outcome::Unfixable(..) => json::Outcome::Unfixable,
                Outcome::Inconclusive(_) => json::Outcome::Inconclusive,
            },
            stopped: match self.found.outcome {
                Outcome::Inconclusive(Reason::Limit(limit)) => Some(limit.word()),
                _ => None,
            },
            reason: self.reason(),
            placement,
            placements: self.options.all.map(|_| {
                let all = placements.iter();
                all.map(|p| {
                    self.placement_json(
                        p,
                        if p.cost == placements[0].cost {
                            optimality.unwrap_or(unknown)
                        } else {
                            unknown
                        },
                    )
                })
                .collect()
            }),
            initial: execution
                .as_ref()
                .map(|(program, _, t)| trace::initial(program, self.source, &t.initial)),
            trace: execution
                .as_ref()
                .map(|(program, _, t)| trace::steps(program, self.source, t)),
            tried: self.found.tried.clone(),
            lower_bound: match &self.found.outcome {
                Outcome::Placed(placed) => Some(placed.lower_bound),
                _ => None,
            },
            removable: self.found.removable.as_ref().map(|removable| {
                let fences = removable.iter();
                fences
                    .map(|(span, kind)| self.own_fence(*span, *kind))
                    .collect()
            }),
            formula: self.found.formula.as_ref().map(|formula| json::Formula {
                clauses: formula
                    .clauses
                    .iter()
                    .map(|clause| clause.iter().map(|l| self.literal(*l)).collect())
                    .collect(),
                minimal_solutions: formula.solutions,
            }),
            stats: json::InferStats {
                states: self.found.states,
                transitions: self.found.transitions,
                peak_states: self.found.peak,
                rounds: self.found.rounds,
                clauses: self.found.clauses.len(),
                formulas: self.found.labelling.map(|l| l.formulas),
                formula_nodes: self.found.labelling.map(|l| l.nodes),
                updates: self.found.labelling.map(|l| l.updates),
            },
            timing: json::InferTiming {
                total_s: self.seconds,
            },
        }
    }

    fn placement_json(
        &self,
        placement: &Placement,
        optimality: json::Optimality,
    ) -> json::Placement {
        let fences = placement.fences.iter().zip(&placement.kinds).enumerate();
        let fences = fences.map(|(index, (&id, &kind))| {
            let point = &self.program.points[id.index()];
            let site = point.sites[0];
            let at = self.source.position(site.statement.start);
            let mut fewer = placement.fences.clone();
            fewer.remove(&id);
            let program = self.program.fenced(&fewer);
            let without = placement.why.get(index);
            let why = without.and_then(|without| without.trace.as_ref());
            json::Fence {
                process: point
                    .process
                    .clone()
                    .unwrap_or_else(|| self.template(id).to_string()),
                line: at.line,
                column: at.column,
                position: describe::side(site.side),
                text: describe::one_line(self.source, site.statement),
                kind: describe::kind(kind),
                instruction: self
                    .asked
                    .target
                    .map(|target| target::instruction(target, kind)),
                without: without.map(|without| without.outcome.into()),
                why: why.map(|why| trace::steps(&program, self.source, why)),
                why_initial: why.map(|why| trace::initial(&program, self.source, &why.initial)),
            }
        });
        json::Placement {
            cost: placement.cost,
            kinds_cost: placement.price,
            verified: true,
            optimality,
            fences: fences.collect(),
        }
    }

    fn own_fence(&self, span: Span, kind: FenceKind) -> json::OwnFence {
        let at = self.source.position(span.start);
        json::OwnFence {
            line: at.line,
            column: at.column,
            text: describe::one_line(self.source, span),
            kind: describe::kind(kind),
        }
    }

    /// A variable of a formula in words.
    pub fn literal(&self, literal: Literal) -> String {
        let statement = |span: Span| {
            let line = self.source.position(span.start).line;
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
