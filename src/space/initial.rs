//! The states that a program may start in.

use super::layout::Overflow;
use super::trace::Snapshot;
use crate::limits::StopReason;
use crate::memory::step::{Config, Stepper, initial_values};
use crate::program::Place;
use std::sync::Arc;

/// Calls `visit` with every initial state until it gives a reason to stop.
pub(super) fn for_each_initial(
    stepper: &Stepper,
    visit: &mut dyn FnMut(&Snapshot) -> Result<Option<StopReason>, Overflow>,
) -> Result<Option<StopReason>, Overflow> {
    let program = stepper.program;
    let configs = program.processes.iter();
    let configs: Vec<Vec<Arc<Config>>> = configs
        .map(|process| stepper.initial(process).into_iter().map(Arc::new).collect())
        .collect();
    let values = |place: &Place| initial_values(place.initial, place.domain);
    let mut chosen = vec![0; configs.len()];
    let mut state = Snapshot {
        memory: program.places.iter().map(|p| *values(p).start()).collect(),
        configs: configs.iter().map(|all| all[0].clone()).collect(),
    };
    'next: loop {
        if let Some(reason) = visit(&state)? {
            return Ok(Some(reason));
        }
        for (process, all) in configs.iter().enumerate() {
            chosen[process] = (chosen[process] + 1) % all.len();
            state.configs[process] = all[chosen[process]].clone();
            if chosen[process] != 0 {
                continue 'next;
            }
        }
        for (value, place) in state.memory.iter_mut().zip(&program.places) {
            if *value < *values(place).end() {
                *value += 1;
                continue 'next;
            }
            *value = *values(place).start();
        }
        return Ok(None);
    }
}
