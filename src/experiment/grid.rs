//! Which cells there are.

use crate::infer::EngineKind;
use crate::memory::{AbstractionKind, Model};
use crate::record::{Cell, Mode};
use serde_json::{Map, Value as Json, json};

/// Every combination of model, representation and k, for every program.
#[derive(Debug, Clone)]
pub struct Grid {
    pub mode: Mode,
    pub models: Vec<Model>,
    pub abstractions: Vec<AbstractionKind>,
    /// Lengths of the head; `None` refines FD. Set ignores them.
    pub heads: Vec<Option<usize>>,
    /// To infer.
    pub engine: EngineKind,
}

impl Grid {
    /// The cells in the order in which results are written. PD cannot be refined and the
    /// engines that label the whole space do not refine: such cells do not exist.
    pub fn cells<'a>(&self, programs: impl IntoIterator<Item = &'a str>) -> Vec<Cell> {
        let mut cells = Vec::new();
        for program in programs {
            for &model in &self.models {
                for &abstraction in &self.abstractions {
                    for &k in self.heads(abstraction) {
                        cells.push(Cell {
                            program: program.to_string(),
                            model,
                            mode: self.mode,
                            abstraction,
                            k,
                            engine: (self.mode == Mode::Infer).then_some(self.engine),
                            join: false,
                            fenced: false,
                        });
                    }
                }
            }
        }
        cells
    }

    fn heads(&self, abstraction: AbstractionKind) -> impl Iterator<Item = &Option<usize>> {
        let none: &[Option<usize>] = &[None];
        let lazy = self.mode == Mode::Verify || self.engine == EngineKind::Lazy;
        let (heads, refines) = match abstraction {
            AbstractionKind::Set | AbstractionKind::Logs => (none, true),
            AbstractionKind::Fd => (&self.heads[..], lazy),
            AbstractionKind::Pd | AbstractionKind::Exact => (&self.heads[..], false),
        };
        heads.iter().filter(move |k| k.is_some() || refines)
    }

    /// What makes two grids the same, as data.
    pub fn options(&self) -> Map<String, Json> {
        let names = |names: Vec<String>| json!(names);
        let heads = self.heads.iter().map(|k| match k {
            Some(k) => json!(k),
            None => json!("auto"),
        });
        let mut options = Map::new();
        options.insert("mode".into(), json!(self.mode));
        let models = self.models.iter().map(Model::to_string).collect();
        options.insert("model".into(), names(models));
        options.insert("abs".into(), json!(self.abstractions));
        options.insert("k".into(), heads.collect());
        if self.mode == Mode::Infer {
            options.insert("engine".into(), json!(self.engine));
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(mode: Mode, engine: EngineKind) -> Vec<String> {
        let grid = Grid {
            mode,
            models: vec![Model::Tso, Model::Pso],
            abstractions: vec![
                AbstractionKind::Set,
                AbstractionKind::Fd,
                AbstractionKind::Pd,
            ],
            heads: vec![Some(0), None],
            engine,
        };
        let cells = grid.cells(["a"]);
        let pso = cells.iter().filter(|cell| cell.model == Model::Pso);
        pso.map(Cell::representation).collect()
    }

    #[test]
    fn only_what_can_be_asked() {
        let verify = ["Set", "FD(k=0)", "FD(auto)", "PD(k=0)"];
        assert_eq!(grid(Mode::Verify, EngineKind::Lazy), verify);
        assert_eq!(grid(Mode::Infer, EngineKind::Lazy), verify);
        let points = ["Set", "FD(k=0)", "PD(k=0)"];
        assert_eq!(grid(Mode::Infer, EngineKind::Points), points);
    }
}
