//! Configurations that another one stands for.
//!
//! Let a configuration have one step besides flushes, and let this step neither read nor write
//! memory, as a store into the own buffers or a step on locals does. Where it leads to, nothing
//! is lost: what the configuration can do, the next one can do as well, if
//!
//! - each of its flushes is one of the next configuration, too, with the same writes, and what
//!   they lead to are again such a configuration and its next one, or these two themselves;
//! - properties see no difference between the two.
//!
//! Then the pairs are a simulation: whatever the other processes do, every write and every
//! violation of the first is one of the second. A closed set that has the first has the second,
//! so the first can be left out. It is never without a step, so no
//! deadlock is lost; and if it only spins, then so does the second, which it reaches by itself.

use super::moves::{ConfigId, Moves, Writes};
use super::{Budget, Ended};

/// The step of a configuration that need not be waited for.
#[derive(Debug, Clone, Copy)]
pub enum Hidden {
    Unknown,
    /// Somebody is about to find out; until then there is none.
    Sought,
    /// Where it leads to, if there is one.
    Known(Option<ConfigId>),
}

/// Pending stores behind one another that are looked at.
const MOST_FLUSHES: usize = 64;

impl Moves<'_> {
    /// Whether another configuration stands for this one.
    pub fn is_left_out(&mut self, config: ConfigId, budget: &mut Budget) -> Result<bool, Ended> {
        let mut way = Vec::new();
        let mut at = config;
        let settled = loop {
            if let Some(settled) = self.facts[at.index()].settled {
                break settled;
            }
            // Of a cycle the first stays that was met.
            self.facts[at.index()].settled = Some(at);
            way.push(at);
            match self.hidden(at, 0, budget)? {
                Some(next) => at = next,
                None => break at,
            }
        };
        for passed in way {
            self.facts[passed.index()].settled = Some(settled);
        }
        Ok(settled != config)
    }

    /// Where the step leads that need not be waited for, if there is one.
    fn hidden(
        &mut self,
        config: ConfigId,
        depth: usize,
        budget: &mut Budget,
    ) -> Result<Option<ConfigId>, Ended> {
        match self.facts[config.index()].hidden {
            Hidden::Known(next) => return Ok(next),
            Hidden::Sought => return Ok(None),
            Hidden::Unknown => self.facts[config.index()].hidden = Hidden::Sought,
        }
        let next = match depth < MOST_FLUSHES {
            true => self.only_step(config, budget)?,
            false => None,
        };
        let next = match next {
            Some(next) if self.keeps_flushes(config, next, depth, budget)? => Some(next),
            _ => None,
        };
        self.facts[config.index()].hidden = Hidden::Known(next);
        Ok(next)
    }

    /// Where the only step besides flushes leads, if it has nothing to do with memory and
    /// properties see no difference.
    fn only_step(
        &mut self,
        config: ConfigId,
        budget: &mut Budget,
    ) -> Result<Option<ConfigId>, Ended> {
        let outline = self.outlined(config, budget)?;
        let mut own = outline.fixed.iter().filter(|step| !step.is_flush);
        let (Some(step), None, false) = (own.next(), own.next(), outline.reads()) else {
            return Ok(None);
        };
        let (next, writes) = (step.next, step.writes != Writes::Nothing);
        let alike = self.class_of(config) == self.class_of(next);
        Ok(Some(next).filter(|next| !writes && alike && *next != config))
    }

    /// Whether the flushes of a configuration are those of the next one, too.
    fn keeps_flushes(
        &mut self,
        config: ConfigId,
        next: ConfigId,
        depth: usize,
        budget: &mut Budget,
    ) -> Result<bool, Ended> {
        self.outlined(next, budget)?;
        for at in 0..self.outlined(config, budget)?.fixed.len() {
            let flush = &self.known(config).fixed[at];
            let (is_flush, after) = (flush.is_flush, flush.next);
            if !is_flush {
                continue;
            }
            let rest = match after == config {
                true => Some(next),
                false => self.hidden(after, depth + 1, budget)?,
            };
            let Some(rest) = rest else {
                return Ok(false);
            };
            let (own, other) = (self.known(config), self.known(next));
            let writes = &own.fixed[at].writes;
            let mut others = other.fixed.iter();
            if !others.any(|step| step.is_flush && step.next == rest && step.writes == *writes) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
