//! What matters of a view of memory.
//!
//! Of the places that a process accesses few matter to what some of its configurations do next.
//! Views that have the same values there are one *sight*.

use super::Budget;
use super::moves::{Interned, Moves, PlaceMask, ViewId};
use crate::ids::ids;
use crate::program::Value;

ids!(
    /// Places that matter.
    MaskId
);

/// Places that matter, and their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SightId(u32);

/// No sight.
const UNKNOWN: SightId = SightId(u32::MAX);

/// The sights of one process.
#[derive(Default)]
pub struct Sights {
    masks: Interned<PlaceMask>,
    /// By mask and view.
    by_view: Vec<Vec<SightId>>,
    sights: Interned<(MaskId, Box<[Value]>)>,
}

impl Sights {
    /// The number of a set of places, all of which the process accesses.
    pub fn mask(&mut self, places: PlaceMask) -> MaskId {
        let (id, new) = self.masks.insert_full(places);
        if new {
            self.by_view.push(Vec::new());
        }
        MaskId(id as u32)
    }

    /// What is seen of a view.
    #[inline]
    pub fn of(
        &mut self,
        mask: MaskId,
        view: ViewId,
        moves: &Moves,
        budget: &mut Budget,
    ) -> SightId {
        match self.by_view[mask.index()].get(view.index()) {
            Some(&sight) if sight != UNKNOWN => sight,
            _ => self.look(mask, view, moves, budget),
        }
    }

    #[cold]
    fn look(&mut self, mask: MaskId, view: ViewId, moves: &Moves, budget: &mut Budget) -> SightId {
        let values = moves.values(view, self.masks[mask.index()]);
        let (id, new) = self.sights.insert_full((mask, values));
        let known = &mut self.by_view[mask.index()];
        let before = known.capacity();
        if known.len() <= view.index() {
            known.resize(view.index() + 1, UNKNOWN);
        }
        known[view.index()] = SightId(id as u32);
        budget.bytes += 4 * (known.capacity() - before) as u64;
        if new {
            let mask = self.masks[mask.index()];
            budget.bytes += 48 + 4 * u64::from(mask.count_ones());
        }
        SightId(id as u32)
    }
}
