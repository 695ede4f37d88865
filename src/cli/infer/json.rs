//! What `infer` says to programs.

use super::Shown;
use crate::cli::args;
use crate::infer::{Engine, Literal, Optimality, Outcome, Paths, PdPrevent, Placement};
use crate::lang::ast::FenceKind;
use crate::report::json::{self, SCHEMA};
use crate::report::{describe, target, trace};
use crate::source::Span;
use crate::verify::Abstraction;

impl Shown<'_> {
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
        let fenced = self.program.fenced(&Default::default());
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
                place: match self.args.place {
                    args::PlaceName::Anywhere => "anywhere",
                    args::PlaceName::AfterStore => "after-store",
                    args::PlaceName::BeforeLoad => "before-load",
                },
                cost: self.args.cost.clone(),
                per_process: self.args.per_process,
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
            reason: self.reason(),
            placement,
            placements: self.args.all.map(|_| {
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
            initial: self.trace().map(|t| trace::initial(&fenced, &t.initial)),
            trace: self.trace().map(|t| trace::steps(&fenced, self.source, t)),
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
            let spot = point.spots[0];
            let at = self.source.position(spot.statement.start);
            let mut fewer = placement.fences.clone();
            fewer.remove(&id);
            let program = self.program.fenced(&fewer);
            let why = placement.why.get(index).and_then(|why| why.as_ref());
            json::Fence {
                process: point
                    .process
                    .clone()
                    .unwrap_or_else(|| self.template(id).to_string()),
                line: at.line,
                column: at.column,
                position: describe::side(spot.side),
                text: describe::one_line(self.source, spot.statement),
                kind: describe::kind(kind),
                instruction: self
                    .args
                    .emit_target
                    .map(|target| target::instruction(target.into(), kind)),
                why: why.map(|why| trace::steps(&program, self.source, why)),
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
