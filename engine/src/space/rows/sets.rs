//! The sets of configurations that rows have: numbered, and shared by the threads of a search.

use crate::ids::ids;
use crate::space::members::Members;
use ahash::RandomState;
use indexmap::IndexSet;
use std::sync::{Arc, RwLock};

ids!(
    /// A set of configurations of the process along which rows go.
    SetId
);

/// All sets met so far.
#[derive(Default)]
pub struct Sets {
    tables: RwLock<Tables>,
}

#[derive(Default)]
struct Tables {
    sets: IndexSet<Arc<Members>, RandomState>,
    bytes: usize,
}

impl Sets {
    pub fn id(&self, set: Members) -> SetId {
        {
            let tables = self.tables.read().expect("no thread panics here");
            if let Some(id) = tables.sets.get_index_of(&set) {
                return SetId(id as u32);
            }
        }
        let mut tables = self.tables.write().expect("no thread panics here");
        tables.bytes += set.bytes() + 4 * size_of::<usize>();
        SetId(tables.sets.insert_full(Arc::new(set)).0 as u32)
    }

    pub fn get(&self, id: SetId) -> Arc<Members> {
        let tables = self.tables.read().expect("no thread panics here");
        tables.sets[id.index()].clone()
    }

    pub fn len(&self) -> usize {
        let tables = self.tables.read().expect("no thread panics here");
        tables.sets.len()
    }

    /// Roughly the memory that they take.
    pub fn bytes(&self) -> usize {
        self.tables.read().expect("no thread panics here").bytes
    }
}
