//! Where others find what the buffers of a template's processes hold.

use super::queues::Buffer;
use super::{Counter, Slots};
use crate::lang::resolve::Template;

impl Buffer {
    /// The slots for integers without bound.
    pub fn slots(&self) -> Vec<Slots> {
        let targets = self.targets.iter().enumerate();
        let integers = targets.filter(|(_, target)| target.is_integer());
        let slots = integers.map(|(at, target)| Slots {
            variable: target.name.clone(),
            array: self.group_of(at).integer.clone(),
        });
        slots.collect()
    }

    /// The number of pending stores of each queue of a template's processes.
    pub fn counters(&self, template: &Template) -> Vec<Counter> {
        let mut all = Vec::new();
        for (own, instance) in template.instances.iter().enumerate() {
            let process = match instance.parameter {
                None => template.name.clone(),
                Some(value) => format!("{}[{value}]", template.name),
            };
            for (group, target) in self.groups.iter().zip(&self.targets) {
                for cell in 0..group.cells {
                    all.push(Counter {
                        process: process.clone(),
                        place: (!self.is_tso()).then(|| target.place(cell as u32)),
                        array: group.count.clone(),
                        cell: own * group.cells + cell,
                    });
                }
            }
        }
        all
    }
}
