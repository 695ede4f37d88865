//! Loops inside of locked parts that only wait.

use super::parse::{Instruction, Transition};
use crate::lang::ast::ExprKind;
use std::collections::BTreeSet;

/// Whether a loop inside of a locked part waits for what it reads, and never ends once it goes round:
/// it begins by reading all of that again, nobody else can write meanwhile, and it does nothing else.
/// `single` says that nothing but the loop leaves a state.
pub fn for_ever(cycle: &[&Transition], single: impl Fn(&str) -> bool) -> bool {
    let read = |transition: &Transition| match &transition.instruction {
        Instruction::Read { register, .. } => Some(register.text.to_string()),
        _ => None,
    };
    let idle = cycle
        .iter()
        .all(|transition| match &transition.instruction {
            Instruction::Read { address, .. } => matches!(address.kind, ExprKind::Int(_)),
            Instruction::Check(_) | Instruction::Noop => true,
            _ => false,
        });
    let all: BTreeSet<String> = cycle.iter().copied().filter_map(read).collect();
    let begins = cycle.iter().copied();
    let begins = begins.map_while(|step| read(step).filter(|_| single(step.from.text)));
    idle && !all.is_empty() && all == begins.collect()
}
