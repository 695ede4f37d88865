//! What `infer` says to people.

use super::InferAnswer;
use crate::c::Repair;
use crate::cli::streams::table_style;
use crate::describe;
use crate::infer::{AllowedGaps, Bounds, Conclusion, EngineKind, Optimality, Placement};
use crate::program::FenceKind;
use crate::report::target;
use crate::report::text::{self, Paint};
use crate::report::trace::trace as trace_table;
use crate::report::{about_atomics, constants, with_constants};
use crate::verify::Verdict;
use crate::words::count;
use std::fmt::Write;

impl InferAnswer<'_> {
    fn optimality(&self) -> Option<String> {
        let Conclusion::Placed(placed) = &self.found.conclusion else {
            return None;
        };
        let model = self.options.verify.semantics.model.upper();
        let fewer = if self.args.cost == "uniform" {
            "with fewer fences"
        } else {
            "that is cheaper"
        };
        // What is known is known of the points that are allowed.
        let fewer = match self.args.place {
            AllowedGaps::Anywhere => fewer.to_string(),
            AllowedGaps::AfterStore => format!("behind stores {fewer}"),
            AllowedGaps::BeforeLoad => format!("before loads {fewer}"),
        };
        Some(match placed.optimality {
            Optimality::Exact => format!("optimal: no placement {fewer} exists on {model}"),
            Optimality::UnderAbstraction if self.options.engine == EngineKind::Lazy => format!(
                "optimal under {}: no placement {fewer} can be proved with it, but {model} itself is only known to need a cost of {}",
                self.found.abstraction, placed.lower_bound
            ),
            Optimality::UnderAbstraction => format!(
                "optimal under {}: no placement {fewer} can be proved with it",
                self.found.abstraction
            ),
            Optimality::Unknown => "a cheaper placement may exist".to_string(),
        })
    }

    pub fn text(&self, paint: Paint) -> String {
        let model = self.options.verify.semantics.model.upper();
        let mut out = format!("{} under {model}: ", self.source.name());
        let labelling = self.found.labelling.map(|labelling| {
            let formulas = count(labelling.formulas as u64, "formula");
            format!("{formulas} in {}, ", count(labelling.updates, "update"))
        });
        let work = format!(
            "{}, {} in the largest, {}by {}{}, {:.2} s",
            count(self.found.rounds, "round"),
            count(self.found.peak, "state"),
            labelling.unwrap_or_default(),
            self.found.abstraction,
            with_constants(self.program, &self.found.thresholds),
            self.seconds
        );
        match &self.found.conclusion {
            Conclusion::Correct(_) => {
                let further = match self.program.own_fences().is_empty() {
                    true => "",
                    false => "further ",
                };
                let correct = paint.good(self.goal());
                let _ = writeln!(out, "{correct}: no {further}fence is needed");
                out.push_str(&self.assumption());
            }
            Conclusion::Placed(placed) => {
                let fences = count(placed.best.fences.len() as u64, self.noun());
                let verb = if placed.best.fences.len() == 1 {
                    "makes"
                } else {
                    "make"
                };
                let placed_word = paint.good(&format!("{fences} {verb} it {}", self.goal()));
                let optimality = self.optimality().unwrap_or_default();
                let _ = writeln!(out, "{placed_word} ({optimality})\n");
                out.push_str(&self.excerpt(&placed.best, paint));
                out.push_str(&self.why(&placed.best));
                out.push_str(&self.targets(&placed.best));
                if self.args.all.is_some() {
                    out.push_str(&self.all_text(&placed.all, placed.more));
                }
            }
            Conclusion::IncorrectUnderSc(..) => {
                self.hopeless("incorrect under SC", &mut out, paint)
            }
            Conclusion::Unfixable(_) => self.hopeless("unfixable", &mut out, paint),
            Conclusion::Inconclusive(_) => {
                let reason = self.reason().unwrap_or_default();
                let _ = write!(out, "{}: ", paint.unsure("inconclusive"));
                match self.bounds() {
                    None => {
                        let _ = writeln!(out, "{reason}");
                    }
                    Some(bounds) => {
                        let known = self.between(bounds);
                        let _ = writeln!(out, "{known}: {reason}\n");
                        out.push_str(&self.excerpt(&bounds.best, paint));
                        out.push_str(&self.targets(&bounds.best));
                    }
                }
            }
        }
        out.push_str(&self.removable());
        out.push_str(&self.formula());
        let _ = writeln!(out, "{}", paint.faint(&work));
        if let Some(text) = about_atomics(self.program, &self.options.verify.semantics) {
            let _ = writeln!(out, "{}", paint.faint(text));
        }
        if self.args.buffers.thresholds.is_some() && self.program.has_integers() {
            let text = constants(&self.found.thresholds);
            let _ = writeln!(out, "{}", paint.faint(&text));
        }
        if self.args.robust {
            let _ = writeln!(out, "{}", paint.faint(text::ROBUSTNESS));
        }
        out
    }

    /// How many fences are needed, as far as is known.
    fn between(&self, bounds: &Bounds) -> String {
        let (lower, upper) = (bounds.lower, bounds.best.cost);
        match self.args.cost == "uniform" {
            true => format!("at least {lower}, at most {}", count(upper, self.noun())),
            false => format!("a cost of at least {lower}, at most {upper}"),
        }
    }

    /// What the program is mended by.
    fn noun(&self) -> &'static str {
        match self.args.repair {
            Repair::Fences => "fence",
            Repair::Orders => "memory order",
            Repair::Any => "change",
        }
    }

    /// What the program should be.
    fn goal(&self) -> &'static str {
        match (self.args.robust, self.args.stuck) {
            (true, _) => "robust",
            (false, true) => "correct and never stuck",
            (false, false) => "correct",
        }
    }

    /// The execution that no fence can prevent.
    fn hopeless(&self, word: &str, out: &mut String, paint: Paint) {
        let reason = self.reason().unwrap_or_default();
        let _ = writeln!(out, "{}: {reason}\n", paint.bad(word));
        if let Some((program, violation, trace)) = self.execution() {
            let (what, _) = describe::violation(&program, self.source, violation, trace.last());
            let table = trace_table(&program, self.source, trace, table_style(self.args.locals));
            let _ = writeln!(out, "{table}  {} {what}\n", paint.bad("violated:"));
        }
    }

    /// What to use for each fence on the target that was named.
    fn targets(&self, placement: &Placement) -> String {
        let mut out = String::new();
        for (point, kind) in placement.fences.iter().zip(&placement.kinds) {
            if let Some(target) = self.args.emit_target {
                let use_ = target::instruction(target, *kind);
                let _ = writeln!(out, "  {}: {use_}", self.place(*point));
            }
        }
        out.push_str(&self.assumption());
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }

    /// What the answer rests on for the target that was named.
    fn assumption(&self) -> String {
        let model = self.options.verify.semantics.model;
        let target = self.args.emit_target;
        let text = target.and_then(|target| target::assumption(target, model));
        text.map_or(String::new(), |text| format!("  {text}\n"))
    }

    /// Which fences of the text are not needed.
    fn removable(&self) -> String {
        let Some(removable) = &self.found.removable else {
            return String::new();
        };
        let own = match self.program.own_fences().len() {
            0 => return "  the program has no fences of its own\n\n".to_string(),
            own => count(own as u64, "fence"),
        };
        let lines = removable.fences.keys().map(|span| {
            let line = self.source.location(span.start).line();
            format!("line {line} '{}'", describe::one_line(self.source, *span))
        });
        let lines: Vec<String> = lines.collect();
        let text = match (lines.len(), removable.is_most) {
            (0, true) => format!("none of the program's own {own} can be removed"),
            (0, false) => {
                format!("none of the program's own {own} could be shown to be removable")
            }
            (some, is_most) => {
                let lines = lines.join("; ");
                let more = match is_most {
                    true => "",
                    false => "; the others could not be shown to be removable",
                };
                format!("{some} of the program's own {own} can be removed: {lines}{more}")
            }
        };
        format!("  {text}\n\n")
    }

    /// The formula, clause by clause.
    fn formula(&self) -> String {
        if !self.args.formula || self.found.labelling.is_none() {
            return String::new();
        }
        let Some(formula) = &self.found.formula else {
            return "  the formula is too large to show\n\n".to_string();
        };
        let mut out = format!(
            "  formula: {}, {}\n",
            count(formula.clauses.len() as u64, "clause"),
            count(formula.solutions as u64, "minimal solution")
        );
        for clause in &formula.clauses {
            let literals: Vec<String> = clause.iter().map(|l| self.literal(*l)).collect();
            let line = match literals.is_empty() {
                true => "false: some error cannot be avoided".to_string(),
                false => literals.join("\n      or "),
            };
            let _ = writeln!(out, "    {line}");
        }
        out.push('\n');
        out
    }

    /// The lines around the fences, with the fences in place.
    fn excerpt(&self, placement: &Placement, paint: Paint) -> String {
        let Some(files) = self.fenced_files(placement) else {
            return self.foreign(placement);
        };
        let mut out = String::new();
        for file in files {
            if file.span.start > 0 {
                let _ = writeln!(out, "  {}:", file.name);
            }
            let original = self.source.slice(file.span);
            out.push_str(&text::excerpt(original, &file.text, paint));
        }
        out
    }

    /// Where the fences go in a text of another format, which has no statement for them.
    fn foreign(&self, placement: &Placement) -> String {
        let mut out = String::new();
        for (&point, &kind) in placement.fences.iter().zip(&placement.kinds) {
            let process = match self.program.points[point.index()].process {
                Some(_) => String::new(),
                None => format!(" in {}", self.template(point)),
            };
            let fence = match kind {
                FenceKind::Full => "fence".to_string(),
                kind => format!("fence {}", kind),
            };
            let _ = writeln!(out, "  {fence} {}{process}", self.place(point));
        }
        out.push('\n');
        out
    }

    /// What happens without each fence.
    fn why(&self, placement: &Placement) -> String {
        let mut out = String::new();
        for (point, why) in placement.fences.iter().zip(&placement.why) {
            let mut fewer = placement.fences.clone();
            fewer.remove(point);
            let program = self.program.fenced(&fewer);
            let violation = why.counterexample.as_ref().map(|(violation, trace)| {
                describe::violation(&program, self.source, *violation, trace.last()).0
            });
            let what = match (why.verdict, violation) {
                (Verdict::Correct, _) => format!("it is {} as well", self.goal()),
                (Verdict::Violated, Some(violation)) => violation,
                (_, Some(violation)) => format!("in the abstraction, {violation}"),
                (_, None) => "nothing was found in time".to_string(),
            };
            let noun = self.noun();
            let _ = writeln!(out, "  without the {noun} {}: {what}", self.place(*point));
            if let (true, Some((_, trace))) = (self.args.why, &why.counterexample) {
                let style = table_style(self.args.locals);
                let table = trace_table(&program, self.source, trace, style);
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
}
