//! Fence points as variables: a fence at a point keeps a process from passing it while
//! stores are pending, and does nothing else. So a transition is prevented by a fence at
//! any of the points that its step passes with pending stores.

use super::{AvoidFormula, label_program};
use crate::formula::{FALSE, Formulas};
use crate::infer::run::InferenceRun;
use crate::infer::{Literal, Obstacle};
use crate::memory::step::{Config, Step};
use crate::program::{PointId, ProcessId};
use crate::space::Tag;
use crate::space::avoid::Labels;
use indexmap::IndexSet;
use std::sync::Mutex;

/// Labels the states of the program with all allowed points.
pub fn label(run: &mut InferenceRun) -> Result<AvoidFormula, Obstacle> {
    let allowed = run.allowed();
    let program = run.whole.with_points(&allowed);
    let passed: Mutex<IndexSet<Vec<PointId>>> = Mutex::default();
    let tag = |_: ProcessId, _: &Config, step: &Step| {
        let mut points = step.passed.clone();
        points.sort();
        points.dedup();
        let mut passed = passed.lock().expect("no thread panics here");
        Tag(passed.insert_full(points).0 as u32)
    };
    let variable = |point: &PointId| allowed.iter().position(|other| other == point);
    let prevention = |formulas: &mut Formulas, tag: Tag| {
        let passed = passed.lock().expect("no thread panics here");
        let mut any = FALSE;
        for index in passed[tag.index()].iter().filter_map(variable) {
            let fenced = formulas.variable(index)?;
            any = formulas.or(any, fenced)?;
        }
        Ok(any)
    };
    let formulas = Formulas::new(allowed.len(), run.options.most_nodes)?;
    let mut labels = [Labels::new(formulas, Box::new(prevention))];
    label_program(run, &program, false, &tag, &mut labels)?;
    let [labels] = labels;
    let variables = allowed.iter().copied().map(Literal::Point).collect();
    let formula = AvoidFormula::of(labels, variables)?;
    if run.options.formula {
        run.formula = formula.clauses();
    }
    Ok(formula)
}
