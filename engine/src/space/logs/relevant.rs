//! What is still relevant of a log: the places that may be looked at before the process is
//! brought to the present.

use super::member::Member;
use crate::program::{FenceKind, Instr, Loc, PlaceId, Process, Value};
use std::rc::Rc;

/// What is still relevant of the log of a process at some position: by loaded place, whether it
/// may be loaded before the process is brought to the present by a fence or an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relevant {
    pub now: Vec<bool>,
    /// Behind the next store, if there is no load before it: that would look at the present.
    behind_next_store: Vec<bool>,
    /// The same if the process has passed the fence before the store.
    behind_fence: Vec<bool>,
}

impl Relevant {
    /// The places that matter to the log of a member.
    pub fn places(&self, member: &Member) -> &[bool] {
        match (member.drained, member.log.behind_store) {
            (true, _) => &self.behind_fence,
            (false, true) => &self.now,
            (false, false) => &self.behind_next_store,
        }
    }
}

/// Resets what is not looked at.
pub fn forget(values: &mut [Value], relevant: &[bool]) {
    for (value, relevant) in values.iter_mut().zip(relevant) {
        *value = if *relevant { *value } else { 0 };
    }
}

/// By position, what is still relevant of a log: a backward analysis to the least fixed
/// point. If the past may be looked at `anywhere`, it need not be behind a store, or one may
/// land at any position.
pub fn relevant(process: &Process, loaded: &[PlaceId], anywhere: bool) -> Vec<Rc<Relevant>> {
    let nothing = vec![false; loaded.len()];
    let nothing = Relevant {
        now: nothing.clone(),
        behind_next_store: nothing.clone(),
        behind_fence: nothing,
    };
    let add = |all: &mut Vec<bool>, more: &[bool]| {
        all.iter_mut()
            .zip(more)
            .for_each(|(all, more)| *all |= more);
    };
    let mut all = vec![nothing; process.locations.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, location) in process.locations.iter().enumerate().rev() {
            let mut here = all[at].clone();
            for (_, edge) in process.edges_from(Loc(at as u32)) {
                let next = &all[edge.to.index()];
                match &edge.instr {
                    Instr::Store { .. } => add(&mut here.behind_fence, &next.now),
                    instr if instr.touches_memory() => {}
                    _ => add(&mut here.behind_fence, &next.behind_fence),
                }
                if location.fenced {
                    continue;
                }
                match &edge.instr {
                    instr if is_present(instr) => continue,
                    Instr::Load { place, .. } => {
                        for cell in place.places() {
                            let at = loaded.binary_search(&cell);
                            here.now[at.expect("it is loaded")] = true;
                        }
                    }
                    Instr::Store { .. } => {
                        add(&mut here.behind_next_store, &next.now);
                    }
                    _ => {
                        add(&mut here.behind_next_store, &next.behind_next_store);
                    }
                }
                add(&mut here.now, &next.now);
            }
            if anywhere && !location.fenced {
                here.behind_next_store = here.now.clone();
            }
            if here != all[at] {
                all[at] = here;
                changed = true;
            }
        }
    }
    all.into_iter().map(Rc::new).collect()
}

/// The instruction brings a process to the present.
pub fn is_present(instr: &Instr) -> bool {
    matches!(
        instr,
        Instr::Update { .. }
            | Instr::Atomic(_)
            | Instr::Fence(FenceKind::Full | FenceKind::StoreLoad)
    )
}
