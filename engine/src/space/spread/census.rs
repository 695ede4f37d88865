//! How many configurations there are: each counts with one worker.

use super::encode;
use super::member::Member;
use super::{Lost, parcel::Parcel};
use crate::space::intern::ConfigId;

/// Configurations in one message at most.
const MOST: usize = 1 << 12;

impl<const N: usize> Member<'_, '_, N> {
    /// The number of configurations that count with this worker.
    pub fn take_census(&mut self) -> Result<usize, Lost> {
        let (own, interner) = (self.own, self.context.interner);
        let mut others = vec![Vec::new(); self.peers.count()];
        for process in self.context.program().process_ids() {
            for number in 0..interner.configs_of(process) as u32 {
                let config = interner.config(process, ConfigId(number));
                let counter = self.directory.counted_by(process, &config);
                let entry = (process, (*config).clone());
                if counter == own {
                    self.counted.insert(entry);
                    continue;
                }
                let to_send = &mut others[counter];
                to_send.push(entry);
                if to_send.len() == MOST {
                    let configs = Parcel::Configs(std::mem::take(to_send));
                    self.peers.send(counter, encode(&configs));
                }
            }
        }
        for (to, configs) in others.into_iter().enumerate() {
            if !configs.is_empty() {
                self.peers.send(to, encode(&Parcel::Configs(configs)));
            }
        }
        self.meet(&())?;
        Ok(self.counted.len())
    }
}
