//! Fence points as variables: a fence at a point keeps a process from passing it while
//! stores are pending, and does nothing else. So a transition is prevented by a fence at
//! any of the points that its step passes with pending stores.

use super::{LabellingProblem, Prevention, explore_all};
use crate::formula::{FALSE, FormulaId, Formulas};
use crate::infer::run::InferenceRun;
use crate::infer::{Literal, Obstacle};
use crate::memory::step::{Config, Step};
use crate::program::{PointId, ProcessId};
use crate::space::Tag;
use indexmap::IndexSet;
use std::sync::Mutex;

/// Builds the graph of the program with all allowed points.
pub fn prepare(run: &mut InferenceRun) -> Result<LabellingProblem, Obstacle> {
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
    let graph = explore_all(run, &program, false, &tag)?;
    let mut formulas = Formulas::new(allowed.len(), run.options.most_nodes)?;
    let variable = |point: &PointId| allowed.iter().position(|other| other == point);
    let passed = passed.into_inner().expect("no thread panics here");
    let mut by_tag: Vec<FormulaId> = Vec::new();
    for points in &passed {
        let mut any = FALSE;
        for index in points.iter().filter_map(variable) {
            let fenced = formulas.variable(index)?;
            any = formulas.or(any, fenced)?;
        }
        by_tag.push(any);
    }
    Ok(LabellingProblem {
        graph,
        over_points: Prevention {
            formulas,
            by_tag,
            variables: allowed.into_iter().map(Literal::Point).collect(),
        },
        over_constraints: None,
    })
}
