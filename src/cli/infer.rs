//! `fencesmith infer`.

use super::args::{self, AbstractionName};
use super::convert::converted;
use super::input::{self, Input};
use super::verify::{json_text, limits, upper};
use super::{Exit, Failure, print, progress};
use crate::fences;
use crate::import::Format;
use crate::infer::{self, Inference, Optimality, Outcome, Placement, Reason, hitting::Costs, lazy};
use crate::lang::ast::FenceKind;
use crate::lang::printer::{Side, print_with_fences};
use crate::program::{PointId, Program};
use crate::report::describe;
use crate::report::json::{self, SCHEMA};
use crate::report::text::{self, Paint, count};
use crate::report::trace;
use crate::source::Source;
use crate::space::Trace;
use crate::verify::{Abstraction, Options};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// Infers fences under each model asked for.
pub fn run(args: &args::Infer) -> Result<Exit, Failure> {
    if (args.emit.is_some() || args.certificate.is_some()) && args.model.len() > 1 {
        return Err(Failure::message(
            "--emit and --certificate need a single --model: the placements may differ",
        ));
    }
    let input = input::program(&args.file, &args.common)?;
    let source = input.source.clone();
    let program = if args.per_process {
        input.program.per_process()
    } else {
        input.program.clone()
    };
    if matches!(
        args.buffers.abs,
        AbstractionName::Set | AbstractionName::Exact
    ) {
        return Err(Failure::Message {
            text: "fences can be inferred under --abs fd or pd only".to_string(),
            help: Some("Set is too coarse, and bounded buffers prove nothing".to_string()),
        });
    }
    let abstraction = args.buffers.abstraction(0);
    let (abstraction, refine) = abstraction.map_err(Failure::message)?;
    let costs = costs(args, &source, &program)?;
    let monitor = progress::interruptible();
    let mut exit = Exit::Fine;
    let mut reports = Vec::new();
    for model in args::distinct(&args.model) {
        let options = infer::Options {
            verify: Options {
                model: model.into(),
                abstraction,
                atomics: args.common.atomics.into(),
                fuse: !args.common.no_fuse,
                reset_dead: true,
                full: false,
                deadlock: false,
                threads: args.common.thread_count(),
                limits: limits(&args.common),
            },
            refine,
            costs: costs.clone(),
            all: args.all,
            why: true,
        };
        let begin = Instant::now();
        let what = format!("{} under {}", source.name(), upper(options.verify.model));
        let found = progress::watched(&args.common, &monitor, &what, || {
            lazy(&program, &options, &monitor)
        });
        let shown = Shown {
            args,
            input: &input,
            source: &source,
            program: &program,
            options: &options,
            found: &found,
            seconds: begin.elapsed().as_secs_f64(),
        };
        exit = exit.min(shown.exit());
        shown.emit()?;
        shown.certify()?;
        match args.common.format {
            args::Format::Json => reports.push(shown.json()),
            args::Format::Text => print(&shown.text())?,
        }
    }
    if args.common.format == args::Format::Json {
        print(&json_text(&reports))?;
    }
    Ok(exit)
}

/// What a fence costs at each point.
fn costs(args: &args::Infer, source: &Source, program: &Program) -> Result<Costs, Failure> {
    let prices: Vec<u64> = match args.cost.as_str() {
        "uniform" => vec![1; program.points.len()],
        "loops" => {
            let depth = program.points.iter().map(|point| point.depth.min(15));
            depth.map(|depth| 10u64.pow(depth)).collect()
        }
        path => {
            let file = input::read(path.as_ref())?;
            let wrong = |text: String| Failure::message(format!("'{path}': {text}"));
            let given: BTreeMap<String, u64> = serde_json::from_str(file.text())
                .map_err(|error| wrong(format!("this is not a list of costs: {error}")))?;
            let mut prices = vec![1; program.points.len()];
            for (place, price) in given {
                let place = place.parse().map_err(&wrong)?;
                let point = fences::find(program, source, place).map_err(&wrong)?;
                prices[point.index()] = price;
            }
            prices
        }
    };
    let allowed = infer::allowed(program, args.place.into());
    let both = prices.into_iter().zip(allowed);
    Ok(both
        .map(|(price, allowed)| allowed.then_some(price))
        .collect())
}

/// An inference about to be shown.
struct Shown<'a> {
    args: &'a args::Infer,
    input: &'a Input,
    source: &'a Source,
    program: &'a Program,
    options: &'a infer::Options,
    found: &'a Inference,
    seconds: f64,
}

impl Shown<'_> {
    fn exit(&self) -> Exit {
        match self.found.outcome {
            Outcome::Correct | Outcome::Placed(_) => Exit::Fine,
            Outcome::IncorrectUnderSc(..) | Outcome::Unfixable(..) => Exit::Violated,
            Outcome::Inconclusive(_) => Exit::Inconclusive,
        }
    }

    fn best(&self) -> Option<&Placement> {
        match &self.found.outcome {
            Outcome::Placed(placed) => Some(&placed.best),
            _ => None,
        }
    }

    fn trace(&self) -> Option<&Trace> {
        match &self.found.outcome {
            Outcome::IncorrectUnderSc(_, trace) | Outcome::Unfixable(_, trace) => Some(trace),
            _ => None,
        }
    }

    /// Why there is no placement, and what to try.
    fn reason(&self) -> Option<String> {
        let abstraction = self.found.abstraction;
        Some(match &self.found.outcome {
            Outcome::Correct | Outcome::Placed(_) => return None,
            Outcome::IncorrectUnderSc(..) => {
                "it is wrong even under sequential consistency, which no fence can mend".to_string()
            }
            Outcome::Unfixable(..) => {
                "an execution of the exact model passes no point where a fence may stand; try --place anywhere".to_string()
            }
            Outcome::Inconclusive(Reason::Limit(reason)) => format!("no placement yet: {reason}"),
            Outcome::Inconclusive(Reason::TooCoarse) => format!(
                "under {abstraction} no placement verifies: a counterexample that is not real passes no point where a fence may stand; try --abs fd with a larger --k"
            ),
        })
    }

    fn optimality(&self) -> Option<String> {
        let Outcome::Placed(placed) = &self.found.outcome else {
            return None;
        };
        let model = upper(self.options.verify.model);
        let fewer = if self.args.cost == "uniform" {
            "with fewer fences"
        } else {
            "that is cheaper"
        };
        Some(match placed.optimality {
            Optimality::Exact => format!("optimal: no placement {fewer} exists on {model}"),
            Optimality::UnderAbstraction => format!(
                "optimal under {}: no placement {fewer} can be proved with it",
                self.found.abstraction
            ),
            Optimality::Unknown => "a cheaper placement may exist".to_string(),
        })
    }

    fn text(&self) -> String {
        let paint = Paint {
            color: self.args.common.stdout_color(),
        };
        let model = upper(self.options.verify.model);
        let mut out = format!("{} under {model}: ", self.source.name());
        let work = format!(
            "{}, {} in the largest, by {}, {:.2} s",
            count(self.found.rounds, "round"),
            count(self.found.peak, "state"),
            self.found.abstraction,
            self.seconds
        );
        match &self.found.outcome {
            Outcome::Correct => {
                let _ = writeln!(out, "{}: no fence is needed", paint.good("correct"));
            }
            Outcome::Placed(placed) => {
                let fences = count(placed.best.fences.len() as u64, "fence");
                let verb = if placed.best.fences.len() == 1 {
                    "makes"
                } else {
                    "make"
                };
                let placed_word = paint.good(&format!("{fences} {verb} it correct"));
                let optimality = self.optimality().unwrap_or_default();
                let _ = writeln!(out, "{placed_word} ({optimality})\n");
                out.push_str(&self.excerpt(&placed.best, paint));
                out.push_str(&self.why(&placed.best, paint));
                if self.args.all.is_some() {
                    out.push_str(&self.all_text(&placed.all, placed.more));
                }
            }
            Outcome::IncorrectUnderSc(violation, trace) | Outcome::Unfixable(violation, trace) => {
                let word = match self.found.outcome {
                    Outcome::Unfixable(..) => "unfixable",
                    _ => "incorrect under SC",
                };
                let reason = self.reason().unwrap_or_default();
                let fenced = self.program.fenced(&Default::default());
                let (what, _) = describe::violation(&fenced, self.source, *violation, trace.last());
                let table = text::trace(&fenced, self.source, trace, paint);
                let verdict = paint.bad("violated:");
                let _ = writeln!(
                    out,
                    "{}: {reason}\n\n{table}  {verdict} {what}\n",
                    paint.bad(word)
                );
            }
            Outcome::Inconclusive(_) => {
                let reason = self.reason().unwrap_or_default();
                let _ = writeln!(out, "{}: {reason}", paint.unsure("inconclusive"));
            }
        }
        let _ = writeln!(out, "{}", paint.faint(&work));
        out
    }

    /// The lines around the fences, with the fences in place.
    fn excerpt(&self, placement: &Placement, paint: Paint) -> String {
        if self.input.format != Format::Fen {
            return self.foreign(placement);
        }
        let fenced = self.printed(placement);
        text::excerpt(self.source.text(), &fenced, paint)
    }

    /// Where the fences go in a foreign text, which has no word for them.
    fn foreign(&self, placement: &Placement) -> String {
        let mut out = String::new();
        for &point in &placement.fences {
            let process = match self.program.points[point.index()].process {
                Some(_) => String::new(),
                None => format!(" in {}", self.template(point)),
            };
            let _ = writeln!(out, "  fence {}{process}", self.place(point));
        }
        out.push('\n');
        out
    }

    /// The name of the process text that a point stands in.
    fn template(&self, point: PointId) -> &str {
        let template = self.program.points[point.index()].template;
        let mut processes = self.program.processes.iter();
        let process = processes.find(|process| process.template == template);
        process.map_or("", |process| process.name.split('[').next().unwrap_or(""))
    }

    /// What happens without each fence.
    fn why(&self, placement: &Placement, paint: Paint) -> String {
        let mut out = String::new();
        for (point, trace) in placement.fences.iter().zip(&placement.why) {
            let mut fewer = placement.fences.clone();
            fewer.remove(point);
            let program = self.program.fenced(&fewer);
            let violation = trace.as_ref().and_then(|trace| {
                let violation = trace.last().violation(&program)?;
                Some(describe::violation(&program, self.source, violation, trace.last()).0)
            });
            let violation = violation.unwrap_or_else(|| "nothing was found in time".to_string());
            let _ = writeln!(
                out,
                "  without the fence {}: {violation}",
                self.place(*point)
            );
            if let (true, Some(trace)) = (self.args.why, trace) {
                let table = text::trace(&program, self.source, trace, paint);
                let _ = writeln!(out, "\n{table}");
            }
        }
        out.push('\n');
        out
    }

    fn all_text(&self, all: &[Placement], more: bool) -> String {
        let more = if more { ", and there may be more" } else { "" };
        let mut out = format!(
            "  {}{more}:\n",
            count(all.len() as u64, "minimal placement")
        );
        for placement in all {
            let places: Vec<String> = placement.fences.iter().map(|&p| self.place(p)).collect();
            let _ = writeln!(out, "    cost {}: {}", placement.cost, places.join("; "));
        }
        out.push('\n');
        out
    }

    /// A point in words: `after line 19 'store turn = 1 - i'`.
    fn place(&self, point: PointId) -> String {
        let point = &self.program.points[point.index()];
        let spot = point.spots[0];
        let line = self.source.position(spot.statement.start).line;
        let side = side_name(spot.side);
        let text = describe::one_line(self.source, spot.statement);
        let process = point.process.as_ref().map(|name| format!(" in {name}"));
        format!("{side} line {line} '{text}'{}", process.unwrap_or_default())
    }

    fn printed(&self, placement: &Placement) -> String {
        let spots = placement
            .fences
            .iter()
            .map(|point| self.program.points[point.index()].spots[0]);
        let mut spots: Vec<_> = spots.map(|spot| (spot, FenceKind::Full)).collect();
        spots.sort();
        spots.dedup();
        match self.input.format {
            Format::Fen => print_with_fences(self.source, &spots),
            _ => converted(self.input, &spots),
        }
    }

    /// Writes the program with its fences.
    fn emit(&self) -> Result<(), Failure> {
        let Some(path) = &self.args.emit else {
            return Ok(());
        };
        let text = match &self.found.outcome {
            Outcome::Correct if self.input.format != Format::Fen => converted(self.input, &[]),
            Outcome::Correct => self.source.text().to_string(),
            Outcome::Placed(placed) => {
                if let Some(point) = self.only_in_some(&placed.best) {
                    let text = format!(
                        "cannot write the fence {}: it stands in some instances of its template only",
                        self.place(point)
                    );
                    return Err(Failure::message(text));
                }
                self.printed(&placed.best)
            }
            _ => return Ok(()),
        };
        input::write(path, &text)
    }

    /// The placement of a program that needs no fence.
    fn none(&self) -> Placement {
        Placement {
            fences: Default::default(),
            cost: 0,
            abstraction: self.found.abstraction,
            states: self.found.proof,
            why: Vec::new(),
        }
    }

    /// Writes the certificate of the placement.
    fn certify(&self) -> Result<(), Failure> {
        let Some(path) = &self.args.certificate else {
            return Ok(());
        };
        let correct = self.none();
        let placement = match &self.found.outcome {
            Outcome::Correct => &correct,
            Outcome::Placed(placed) => &placed.best,
            _ => return Ok(()),
        };
        let certificate = infer::certificate(
            self.source,
            self.program,
            self.options,
            placement,
            &self.found.clauses,
        );
        input::write(path, &json_text(&certificate))
    }

    /// A fence that some instance of the template lacks.
    fn only_in_some(&self, placement: &Placement) -> Option<PointId> {
        let mut fences = placement.fences.iter().copied();
        fences.find(|point| {
            let own = &self.program.points[point.index()];
            let same = self.program.points.iter().enumerate();
            let mut same = same
                .filter(|(_, other)| other.template == own.template && other.spots == own.spots);
            same.any(|(id, _)| !placement.fences.contains(&PointId(id as u32)))
        })
    }

    fn json(&self) -> json::Inference {
        let (placements, optimality) = match &self.found.outcome {
            Outcome::Placed(placed) => (&placed.all[..], Some(placed.optimality)),
            _ => (&[][..], None),
        };
        let optimality = optimality.map(|optimality| match optimality {
            Optimality::Exact => "exact",
            Optimality::UnderAbstraction => "under-abstraction",
            Optimality::Unknown => "unknown",
        });
        let placement = match &self.found.outcome {
            Outcome::Correct => Some(self.placement_json(&self.none(), "exact")),
            _ => self
                .best()
                .map(|best| self.placement_json(best, optimality.unwrap_or("unknown"))),
        };
        let fenced = self.program.fenced(&Default::default());
        let (abstraction, k) = match self.found.abstraction {
            Abstraction::Pd { k } => ("pd", k),
            Abstraction::Fd { k } => ("fd", k),
            Abstraction::Set | Abstraction::Exact { .. } => unreachable!("refused before"),
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
                engine: "lazy",
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
                Outcome::Correct => "correct",
                Outcome::Placed(_) => "placed",
                Outcome::IncorrectUnderSc(..) => "incorrect-under-sc",
                Outcome::Unfixable(..) => "unfixable",
                Outcome::Inconclusive(_) => "inconclusive",
            },
            reason: self.reason(),
            placement,
            placements: self.args.all.map(|_| {
                let all = placements.iter();
                all.map(|p| {
                    self.placement_json(
                        p,
                        if p.cost == placements[0].cost {
                            optimality.unwrap_or("unknown")
                        } else {
                            "unknown"
                        },
                    )
                })
                .collect()
            }),
            initial: self.trace().map(|t| trace::initial(&fenced, &t.initial)),
            trace: self.trace().map(|t| trace::steps(&fenced, self.source, t)),
            tried: self.found.tried.clone(),
            stats: json::InferStats {
                states: self.found.states,
                transitions: self.found.transitions,
                peak_states: self.found.peak,
                rounds: self.found.rounds,
                clauses: self.found.clauses.len(),
            },
            timing: json::InferTiming {
                total_s: self.seconds,
            },
        }
    }

    fn placement_json(&self, placement: &Placement, optimality: &'static str) -> json::Placement {
        let fences = placement.fences.iter().enumerate().map(|(index, &id)| {
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
                position: side_name(spot.side),
                text: describe::one_line(self.source, spot.statement),
                kind: "full",
                why: why.map(|why| trace::steps(&program, self.source, why)),
            }
        });
        json::Placement {
            cost: placement.cost,
            verified: true,
            optimality,
            fences: fences.collect(),
        }
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Before => "before",
        Side::After => "after",
        Side::Inside => "inside",
    }
}
