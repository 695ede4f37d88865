//! The shortest way to a violation, through levels on disk.
//!
//! The states on the way are held in memory, which is little where violations of one level are
//! few; if there are too many, the violation is known without its trace.

use super::levels::Levels;
use crate::limits::StopReason;
use crate::property::Violation;
use crate::space::breadth::path::Distinct;
use crate::space::breadth::worker::Worker;
use crate::space::layout::State;
use crate::space::level::Level;
use crate::space::path::{leading_to, walk_to_violation};
use crate::space::pool::Workers;
use crate::space::trace::Trace;
use ahash::AHashSet;

impl<const N: usize> Levels<'_, N> {
    /// A shortest trace to one of the given states of a level, and what is wrong there.
    pub fn shortest(
        &mut self,
        level: usize,
        errors: Vec<State<N>>,
    ) -> Result<(Violation, Trace), StopReason> {
        let context = self.context;
        let distinct = Distinct(context);
        let mut workers = Workers::new(context.search.threads, |own| Worker::new(context, own, 1));
        let mut way: Vec<AHashSet<State<N>>> = vec![errors.into_iter().collect()];
        for before in (0..level).rev() {
            let mut reader = self.levels[before].reader();
            let mut leading = AHashSet::new();
            loop {
                let portion = self.portion(&mut reader)?;
                if portion.is_empty() {
                    break;
                }
                let target = way.last().expect("the errors are there");
                let portion = Level::from(portion);
                let found = leading_to(&context, &distinct, &mut workers, &portion, target)?;
                leading.extend(found);
                let on_the_way =
                    way.iter().map(|states| states.len()).sum::<usize>() + leading.len();
                // Sets have slots to spare.
                context.check_memory((2 * on_the_way * size_of::<State<N>>()) as u64)?;
            }
            way.push(leading);
        }
        way.reverse();
        walk_to_violation(&context, &distinct, workers.first(), &way)
    }
}
