//! The states that a program may start in.

use super::context::Context;
use super::search::Unfinished;
use super::trace::Snapshot;
use crate::limits::{Pace, StopReason, Watch};
use crate::memory::step::{Config, initial_values};
use crate::program::Place;
use std::sync::Arc;

/// Calls `visit` with every initial state until it fails.
pub fn for_each_initial(
    context: &Context,
    visit: &mut dyn FnMut(&Snapshot) -> Result<(), Unfinished>,
) -> Result<(), Unfinished> {
    let places = &context.program().places;
    let configs = initial_configs(context)?;
    let values = |place: &Place| initial_values(place.initial, place.domain);
    let mut chosen = vec![0; configs.len()];
    let mut state = Snapshot {
        memory: places.iter().map(|place| *values(place).start()).collect(),
        configs: configs.iter().map(|all| all[0].clone()).collect(),
    };
    let mut pace = Pace::default();
    'next: loop {
        visit(&state)?;
        context.go_on(&mut pace, context.components())?;
        for (process, all) in configs.iter().enumerate() {
            chosen[process] = (chosen[process] + 1) % all.len();
            state.configs[process] = all[chosen[process]].clone();
            if chosen[process] != 0 {
                continue 'next;
            }
        }
        for (value, place) in state.memory.iter_mut().zip(places) {
            if *value < *values(place).end() {
                *value += 1;
                continue 'next;
            }
            *value = *values(place).start();
        }
        return Ok(());
    }
}

/// For each process, the configurations it may start in.
fn initial_configs(context: &Context) -> Result<Vec<Vec<Arc<Config>>>, StopReason> {
    let mut all = Vec::new();
    let mut held = 0;
    for process in &context.program().processes {
        let check = |bytes: usize| {
            context.check_memory((held + bytes) as u64)?;
            context.check()
        };
        let configs = context
            .search
            .stepper
            .initial(process, &Watch::new(&check))?;
        held += configs.len() * (size_of::<Config>() + 4 * process.locals.len());
        all.push(configs.into_iter().map(Arc::new).collect());
    }
    Ok(all)
}
