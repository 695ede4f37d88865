//! Which plots there are: figures against k.

use super::plot::{Plot, Series};
use crate::experiment::{Entry, Side, compare, over_all};
use crate::infer::EngineKind;
use crate::memory::{AbstractionKind, Model};
use crate::record::Mode;
use crate::words::count;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// A figure of a cell that can be drawn against k.
type Figure = fn(&Entry) -> Option<f64>;

/// How the lines of several programs become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mean {
    Geometric,
    Arithmetic,
}

const MODELS: [Model; 3] = [Model::Pso, Model::Tso, Model::Sc];
const SIDES: [(AbstractionKind, &str); 2] =
    [(AbstractionKind::Fd, "fd"), (AbstractionKind::Pd, "pd")];

/// States against k: of verified programs if there are some.
pub fn states_plot(entries: &[&Entry]) -> Plot {
    let any = |mode| entries.iter().any(|entry| entry.cell.mode == mode);
    let mode = if any(Mode::Verify) {
        Mode::Verify
    } else {
        Mode::Infer
    };
    let figure: Figure = |entry| entry.states().map(|states| states.max(1) as f64);
    plot("states", entries, mode, true, "", Mean::Geometric, figure)
}

/// Fences against k, and the fewest there are.
fn fences_plot(entries: &[&Entry]) -> Plot {
    let figure: Figure = |entry| entry.fences().map(|fences| fences as f64);
    let mut plot = plot(
        "fences",
        entries,
        Mode::Infer,
        false,
        "",
        Mean::Arithmetic,
        figure,
    );
    let shown = complete(&asked(entries, Mode::Infer), figure);
    let refined = entries.iter().filter(|entry| entry.cell.refine());
    let known = refined.filter(|entry| shown.contains(&program(entry)));
    let fewest: Vec<f64> = known.filter_map(|entry| figure(entry)).collect();
    let ks = plot
        .series
        .iter()
        .flat_map(|series| &series.points)
        .map(|(k, _)| *k);
    if let (Some(low), Some(high), false) = (ks.clone().min(), ks.max(), fewest.is_empty()) {
        let mean = fewest.iter().sum::<f64>() / fewest.len() as f64;
        plot.series.push(Series {
            name: "fewest".to_string(),
            class: "best",
            dashed: true,
            points: vec![(low, mean), (high, mean)],
        });
    }
    plot
}

/// Seconds against k.
pub fn time_plot(entries: &[&Entry]) -> Plot {
    let any = |mode| entries.iter().any(|entry| entry.cell.mode == mode);
    let mode = if any(Mode::Infer) {
        Mode::Infer
    } else {
        Mode::Verify
    };
    // What a limit has ended would have taken longer.
    let figure: Figure = |entry| {
        let seconds = entry.measured.total_s.filter(|_| entry.stopped.is_none());
        seconds.map(|seconds| seconds.max(1e-4))
    };
    plot("time", entries, mode, true, " s", Mean::Geometric, figure)
}

/// Which part of the programs FD and PD answer precisely, against k: those that are correct are
/// proved, the others get the fewest fences. At each k, the programs count that both were asked.
pub fn precision_plot(entries: &[Entry]) -> Plot {
    let mut comparisons = compare(entries);
    for comparison in &mut comparisons {
        let answered = |side: &Side| side.verified.or(side.inferred).is_some();
        let rows = &mut comparison.rows;
        rows.retain(|(_, sides)| sides.iter().all(answered));
    }
    // Nothing is known without the fewest fences.
    comparisons.retain(|one| one.optimum.is_some() && !one.rows.is_empty());
    let at_k = over_all(&comparisons);
    let series = SIDES.iter().enumerate();
    let series = series.map(|(index, (side, class))| Series {
        name: side.to_string().to_uppercase(),
        class,
        dashed: false,
        points: at_k
            .iter()
            .map(|at| (at.k, 100.0 * at.precise[index] as f64 / at.compared as f64))
            .collect(),
    });
    let compared = comparisons.len() as u64;
    let models: BTreeSet<String> = comparisons.iter().map(|one| one.model.upper()).collect();
    let of = match models.len() {
        0 | 1 => count(compared, "program"),
        _ => count(compared, "pair") + " of program and model",
    };
    Plot {
        title: "precise answers against k".to_string(),
        subtitle: format!("a proof, or the fewest fences; of those asked at k, {of} in all"),
        x: "k".to_string(),
        log: false,
        unit: " %",
        series: series.collect(),
        faint: Vec::new(),
    }
}

/// The plots over all programs, those that have something to show.
pub fn overall(entries: &[Entry]) -> Vec<Plot> {
    let all: Vec<&Entry> = entries.iter().collect();
    let mut plots = vec![precision_plot(entries)];
    plots.retain(|plot| !plot.is_empty());
    plots.extend(plots_of(&all));
    plots
}

/// The plots of some cells, those that have something to show.
pub fn plots_of(entries: &[&Entry]) -> Vec<Plot> {
    let mut plots = vec![
        states_plot(entries),
        fences_plot(entries),
        time_plot(entries),
    ];
    plots.retain(|plot| !plot.is_empty());
    plots
}

/// Plots, each in a frame.
pub fn figures(plots: &[Plot]) -> Markup {
    html! {
        @for plot in plots { figure { (plot.svg()) } }
    }
}

/// One line for each model and abstraction, the mean over the programs that have a figure at
/// every k; with several programs, one faint line for each.
fn plot(
    title: &str,
    entries: &[&Entry],
    mode: Mode,
    log: bool,
    unit: &'static str,
    mean: Mean,
    figure: Figure,
) -> Plot {
    let asked = asked(entries, mode);
    let complete = complete(&asked, figure);
    let asked: Vec<&Entry> = asked
        .into_iter()
        .filter(|e| complete.contains(&program(e)))
        .collect();
    let programs: BTreeSet<&str> = complete.iter().map(|(program, _)| *program).collect();
    let models = MODELS
        .into_iter()
        .filter(|m| asked.iter().any(|e| e.cell.model == *m));
    let models: Vec<Model> = models.collect();
    let (mut series, mut faint) = (Vec::new(), Vec::new());
    for (index, &model) in models.iter().enumerate() {
        for (side, class) in SIDES {
            let own = asked
                .iter()
                .filter(|e| (e.cell.model, e.cell.abstraction) == (model, side));
            let own: Vec<&Entry> = own.copied().collect();
            let line = |name: &str, points: Vec<(usize, f64)>| Series {
                name: name.to_string(),
                class,
                dashed: index > 0,
                points,
            };
            if programs.len() > 1 {
                for program in &programs {
                    let points = own.iter().filter(|e| e.cell.program == *program);
                    let points = points.filter_map(|e| Some((e.cell.k?, figure(e)?)));
                    faint.push(line("", points.collect()));
                }
            }
            let name = match models.len() {
                1 => side.to_string().to_uppercase(),
                _ => format!("{} {}", side.to_string().to_uppercase(), model.upper()),
            };
            series.push(line(&name, means(&own, mean, figure)));
        }
    }
    series.retain(|series| !series.points.is_empty());
    let subtitle = match (programs.len(), mean) {
        (0 | 1, _) => String::new(),
        (many, Mean::Geometric) => format!("geometric mean of {many} programs, each of them faint"),
        (many, Mean::Arithmetic) => format!("mean of {many} programs, each of them faint"),
    };
    Plot {
        title: format!("{title} to {mode} against k"),
        subtitle,
        x: "k".to_string(),
        log,
        unit,
        series,
        faint,
    }
}

/// The program and the model of a cell.
fn program(entry: &Entry) -> (&str, Model) {
    (&entry.cell.program, entry.cell.model)
}

/// The cells of a mode at some k; if fences were inferred by formulas as well, only those.
fn asked<'a>(entries: &[&'a Entry], mode: Mode) -> Vec<&'a Entry> {
    let points = |entry: &Entry| entry.cell.engine == Some(EngineKind::Points);
    let any = entries.iter().any(|entry| points(entry));
    let asked = entries.iter().copied().filter(|entry| {
        let own = entry.cell.mode == mode && entry.cell.k.is_some();
        own && (mode == Mode::Verify || !any || points(entry))
    });
    asked.collect()
}

/// The programs that have the figure at every k at which some program was asked.
fn complete<'a>(asked: &[&'a Entry], figure: Figure) -> Vec<(&'a str, Model)> {
    let ks: BTreeSet<Option<usize>> = asked.iter().map(|entry| entry.cell.k).collect();
    let mut programs: Vec<(&str, Model)> = asked.iter().map(|e| program(e)).collect();
    programs.sort_by_key(|(name, model)| (*name, model.to_string()));
    programs.dedup();
    programs.retain(|one| {
        let own = || asked.iter().filter(|entry| program(entry) == *one);
        let sides: BTreeSet<String> = own().map(|e| e.cell.abstraction.to_string()).collect();
        // Several engines may have answered at one k.
        let known = own().filter(|entry| figure(entry).is_some());
        let known = known.map(|entry| (entry.cell.abstraction.to_string(), entry.cell.k));
        known.collect::<BTreeSet<_>>().len() == ks.len() * sides.len()
    });
    programs
}

/// For each k the mean over programs.
fn means(entries: &[&Entry], mean: Mean, figure: Figure) -> Vec<(usize, f64)> {
    let mut ks: Vec<usize> = entries.iter().filter_map(|entry| entry.cell.k).collect();
    ks.sort_unstable();
    ks.dedup();
    let at = |k: usize| {
        let own = entries.iter().filter(|entry| entry.cell.k == Some(k));
        let figures: Vec<f64> = own.filter_map(|entry| figure(entry)).collect();
        let count = figures.len() as f64;
        let mean = match mean {
            Mean::Arithmetic => figures.iter().sum::<f64>() / count,
            Mean::Geometric => (figures.iter().map(|y| y.ln()).sum::<f64>() / count).exp(),
        };
        (k, mean)
    };
    ks.into_iter().map(at).collect()
}
