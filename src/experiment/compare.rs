//! The fully against the partially disjunctive abstraction, k by k; and, for programs with integers
//! without bound, many zones against one for each state of the rest.
//!
//! For each program: its whole state space by either (how large, and is what it finds real?),
//! the fences inferred by formulas over the whole space, and the fewest fences there are, by
//! refinement. An abstraction is *precise* at a k if it proves a program that is correct, or
//! finds the fewest fences for one that is not.
//!
//! The whole space of a program that lacks fences can be out of reach. A comparison of *fenced*
//! programs asks for the space of the program with the fewest fences, up to a violation, and an
//! abstraction is precise at a k if it proves that one.

use super::entry::{CellOutcome, Entry};
use crate::infer::{EngineKind, Optimality};
use crate::memory::{AbstractionKind, Model};
use crate::record::{Cell, Mode};
use std::cmp::Ordering;

/// FD and PD, in the order in which they are shown.
const SIDES: [AbstractionKind; 2] = [AbstractionKind::Fd, AbstractionKind::Pd];

/// The cells that a comparison needs, of programs as they stand or with the fewest fences. In the
/// former case, the verified ones should count all states.
pub fn comparison_cells<'a>(
    programs: impl IntoIterator<Item = &'a str>,
    models: &[Model],
    ks: &[usize],
    fenced: bool,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for program in programs {
        for &model in models {
            let cell = |mode, abstraction, k, engine| Cell {
                program: program.to_string(),
                model,
                mode,
                abstraction,
                k,
                engine,
                join: false,
                fenced: fenced && mode == Mode::Verify,
            };
            cells.push(cell(
                Mode::Infer,
                AbstractionKind::Fd,
                None,
                Some(EngineKind::Lazy),
            ));
            for &k in ks {
                for side in SIDES {
                    cells.push(cell(Mode::Verify, side, Some(k), None));
                    if !fenced {
                        let points = Some(EngineKind::Points);
                        cells.push(cell(Mode::Infer, side, Some(k), points));
                    }
                }
            }
        }
    }
    cells
}

/// The cells that a comparison needs for programs with integers without bound.
pub fn joining_cells<'a>(
    programs: impl IntoIterator<Item = &'a str>,
    models: &[Model],
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for program in programs {
        for &model in models {
            let cell = |mode, engine, join| Cell {
                program: program.to_string(),
                model,
                mode,
                abstraction: AbstractionKind::Fd,
                k: None,
                engine,
                join,
                fenced: false,
            };
            cells.push(cell(Mode::Infer, Some(EngineKind::Lazy), false));
            cells.push(cell(Mode::Verify, None, false));
            cells.push(cell(Mode::Verify, None, true));
        }
    }
    cells
}

/// One program under one model.
#[derive(Debug)]
pub struct Comparison<'a> {
    pub program: &'a str,
    pub model: Model,
    /// The fewest fences, and whether it is certain that there are none with fewer; `None`
    /// if no fences help or nothing is known.
    pub optimum: Option<(u64, bool)>,
    /// By k: FD and PD.
    pub rows: Vec<(usize, [Side<'a>; 2])>,
    /// Of a program with integers without bound: verified with many zones, and with one for each
    /// state of the rest.
    pub zones: Option<[&'a Entry; 2]>,
}

/// One abstraction at one k.
#[derive(Debug)]
pub struct Side<'a> {
    pub verified: Option<&'a Entry>,
    pub inferred: Option<&'a Entry>,
    pub precise: bool,
}

/// Who does better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Winner {
    Fd,
    Pd,
    /// As good as one another.
    Equal,
    /// There is nothing to compare.
    Nobody,
}

/// Pairs up the cells of a comparison.
pub fn compare(entries: &[Entry]) -> Vec<Comparison<'_>> {
    let mut all: Vec<Comparison> = Vec::new();
    for entry in entries {
        let (program, model) = (&entry.cell.program, entry.cell.model);
        let known = |c: &Comparison| c.program == program && c.model == model;
        if !all.iter().any(known) {
            all.push(comparison(entries, program, model));
        }
    }
    all
}

fn comparison<'a>(entries: &'a [Entry], program: &'a str, model: Model) -> Comparison<'a> {
    let own = |entry: &&Entry| entry.cell.program == program && entry.cell.model == model;
    let own: Vec<&Entry> = entries.iter().filter(own).collect();
    let optimum = own
        .iter()
        .find(|entry| entry.cell.refine() && entry.cell.mode == Mode::Infer)
        .and_then(|entry| {
            let placement = entry.answer.placement()?;
            Some((placement.cost, placement.optimality == Optimality::Exact))
        });
    let mut ks: Vec<usize> = own.iter().filter_map(|entry| entry.cell.k).collect();
    ks.sort_unstable();
    ks.dedup();
    let rows = ks.into_iter().map(|k| {
        let find = |mode, side| {
            let mut own = own.iter().copied();
            own.find(|e| (e.cell.mode, e.cell.abstraction, e.cell.k) == (mode, side, Some(k)))
        };
        let sides = SIDES.map(|side| {
            let (verified, inferred) = (find(Mode::Verify, side), find(Mode::Infer, side));
            let proved = verified.is_some_and(|e| e.cell_outcome() == CellOutcome::Correct);
            Side {
                verified,
                inferred,
                precise: match optimum {
                    None => false,
                    Some((0, _)) => proved,
                    Some(_) if verified.is_some_and(|e| e.cell.fenced) => proved,
                    Some((fences, _)) => inferred
                        .and_then(Entry::fences)
                        .is_some_and(|own| own <= fences),
                },
            }
        });
        (k, sides)
    });
    let zones = [false, true].map(|join| {
        let verified = |entry: &&&Entry| {
            let cell = &entry.cell;
            cell.refine() && cell.mode == Mode::Verify && cell.join == join
        };
        own.iter().find(verified).copied()
    });
    Comparison {
        program,
        model,
        optimum,
        rows: rows.collect(),
        zones: zones[0].zip(zones[1]).map(<[&Entry; 2]>::from),
    }
}

impl Side<'_> {
    /// The size of the whole state space, if all of it was seen.
    pub fn states(&self) -> Option<u64> {
        self.whole()?.states()
    }

    /// The transitions of the whole state space, if all of it was seen.
    pub fn transitions(&self) -> Option<u64> {
        self.whole()?.transitions()
    }

    /// The verification, if it was meant to see the whole space: that of a fenced program ends
    /// at a violation.
    fn whole(&self) -> Option<&Entry> {
        let ends = |e: &&Entry| e.cell.fenced && e.cell_outcome() != CellOutcome::Correct;
        self.verified.filter(|entry| !ends(entry))
    }

    /// Seconds to verify and to infer.
    pub fn seconds(&self) -> Option<f64> {
        let seconds = |entry: Option<&Entry>| entry?.measured.total_s;
        Some(seconds(self.verified)? + seconds(self.inferred).unwrap_or(0.0))
    }
}

impl Comparison<'_> {
    /// Whether one zone for each state of the rest gives the verdict that many give; none if many
    /// give no certain one, or if there are no integers.
    pub fn join_suffices(&self) -> Option<bool> {
        let [many, one] = self.zones?.map(Entry::cell_outcome);
        let certain = matches!(many, CellOutcome::Correct | CellOutcome::Violated);
        certain.then_some(many == one)
    }

    /// The smallest k at which FD and PD are precise.
    pub fn precise(&self) -> [Option<usize>; 2] {
        [0, 1].map(|side| {
            let precise = self.rows.iter().find(|(_, sides)| sides[side].precise);
            precise.map(|(k, _)| *k)
        })
    }

    /// Who is precise at the smaller k.
    pub fn precision(&self) -> Winner {
        match (self.optimum, self.precise()) {
            (None, _) | (_, [None, None]) => Winner::Nobody,
            // Without a k at all one is last.
            (_, ks) => winner(ks.map(|k| k.unwrap_or(usize::MAX))),
        }
    }

    /// The states that FD and PD need, each at the smallest k at which it is precise.
    pub fn sizes(&self) -> [Option<u64>; 2] {
        let precise = self.precise();
        [0, 1].map(|side| {
            let (_, sides) = self.rows.iter().find(|(k, _)| Some(*k) == precise[side])?;
            sides[side].states()
        })
    }

    /// Who is precise with fewer states.
    pub fn size(&self) -> Winner {
        match self.sizes() {
            [None, None] => Winner::Nobody,
            sizes => winner(sizes.map(|states| states.unwrap_or(u64::MAX))),
        }
    }
}

/// The smaller figure wins.
fn winner<T: Ord>([fd, pd]: [T; 2]) -> Winner {
    match fd.cmp(&pd) {
        Ordering::Less => Winner::Fd,
        Ordering::Greater => Winner::Pd,
        Ordering::Equal => Winner::Equal,
    }
}

impl Winner {
    pub fn as_str(self) -> &'static str {
        match self {
            Winner::Fd => "FD",
            Winner::Pd => "PD",
            Winner::Equal => "equal",
            Winner::Nobody => "–",
        }
    }
}

/// How often FD and PD are precise at a k, and how many times as many states FD has (the
/// geometric mean over programs where both spaces are complete).
#[derive(Debug, Clone, Copy)]
pub struct AtK {
    pub k: usize,
    pub precise: [usize; 2],
    pub compared: usize,
    pub ratio: Option<f64>,
}

/// The comparison over all programs, k by k; without the programs that have no optimum.
pub fn over_all(comparisons: &[Comparison]) -> Vec<AtK> {
    let mut ks: Vec<usize> = Vec::new();
    for comparison in comparisons {
        ks.extend(comparison.rows.iter().map(|(k, _)| *k));
    }
    ks.sort_unstable();
    ks.dedup();
    let at = |k: usize| {
        let counted = comparisons.iter().filter(|c| c.optimum.is_some());
        let rows = counted.flat_map(|c| c.rows.iter().filter(move |(own, _)| *own == k));
        let rows: Vec<&[Side; 2]> = rows.map(|(_, sides)| sides).collect();
        let logs = rows.iter().filter_map(|[fd, pd]| {
            Some((fd.states()?.max(1) as f64 / pd.states()?.max(1) as f64).ln())
        });
        let logs: Vec<f64> = logs.collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        AtK {
            k,
            precise: [0, 1].map(|side| rows.iter().filter(|row| row[side].precise).count()),
            compared: rows.len(),
            ratio: (!logs.is_empty()).then(|| mean.exp()),
        }
    };
    ks.into_iter().map(at).collect()
}
