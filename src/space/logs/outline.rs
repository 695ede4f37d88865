//! Instructions as view logs see them, each with the local steps before it.

use super::member::ConfigId;
use super::rules::Rules;
use crate::limits::{StopReason, Watch};
use crate::memory::step::{Approach, At, Step};
use crate::program::{EdgeId, FenceKind, Instr, PlaceId, Value};
use std::rc::Rc;

/// An instruction, with the local steps before it.
pub struct Move {
    pub path: Rc<[EdgeId]>,
    /// It passes a fence that was placed.
    pub fenced: bool,
    pub act: Act,
}

pub enum Act {
    /// Nothing that concerns memory.
    Local(Step),
    Store(PlaceId, Value, Step),
    Fence(FenceKind, Step),
    Load(PlaceId, Approach),
    Update(PlaceId, Approach),
    Atomic(Approach),
}

impl Rules<'_> {
    /// Everything that comes next in a configuration.
    pub fn outline(&mut self, id: ConfigId, watch: &Watch) -> Result<Rc<[Move]>, StopReason> {
        if let Some(known) = &self.outlines[id.index()] {
            return Ok(known.clone());
        }
        let outline = self.stepper.outline(self.process, self.config(id), watch)?;
        let fixed = outline.fixed.into_iter().map(|step| {
            let last = *step.path.last().expect("nothing is flushed");
            let failed = matches!(step.next.at, At::Failed(_));
            let path: Rc<[EdgeId]> = step.path[..].into();
            let act = match &self.process.edge(last).instr {
                Instr::Store { .. } if !failed => {
                    let (place, value) = step.writes[0];
                    Act::Store(place, value, step)
                }
                Instr::Fence(kind) => Act::Fence(*kind, step),
                _ => Act::Local(step),
            };
            (path, act)
        });
        let reads = outline.reads.into_iter().map(|(place, approach)| {
            let path: Rc<[EdgeId]> = approach.path[..].into();
            let last = *path.last().expect("an approach has a last edge");
            let act = match &self.process.edge(last).instr {
                Instr::Update { .. } => Act::Update(place, approach),
                _ => Act::Load(place, approach),
            };
            (path, act)
        });
        let atomics = outline.atomics.into_iter().map(|approach| {
            let path: Rc<[EdgeId]> = approach.path[..].into();
            (path, Act::Atomic(approach))
        });
        let fenced = |id: &EdgeId| self.process.location(self.process.edge(*id).from).fenced;
        let moves = fixed.chain(reads).chain(atomics).map(|(path, act)| Move {
            fenced: path.iter().any(fenced),
            path,
            act,
        });
        let moves: Rc<[Move]> = moves.collect();
        self.outlines[id.index()] = Some(moves.clone());
        Ok(moves)
    }
}
