//! The store buffers of one process, as arrays and the text that works on them.
//!
//! TSO has one queue of places and values. PSO has one queue of values per place; with
//! store-store fences every entry carries the number of pending ones before it, counted
//! from the oldest that is still pending, and only entries with number 0 may leave. A
//! store-load fence counts the entries that were pending when it was passed.

use super::PromelaOptions;
use crate::memory::{Atomics, Model};
use crate::program::{FenceKind, Instr, Process, Program};
use std::fmt::Write;

pub struct Buffers {
    name: String,
    model: Model,
    atomics: Atomics,
    bound: usize,
    /// The places that the process may store to.
    stored: Vec<usize>,
    places: usize,
    store_store: bool,
    store_load: bool,
}

impl Buffers {
    pub fn new(
        process: &Process,
        name: &str,
        program: &Program,
        options: &PromelaOptions,
    ) -> Buffers {
        let mut stored = vec![false; program.places.len()];
        let fence = |kind| {
            let mut edges = process.edges.iter();
            edges.any(|edge| matches!(edge.instr, Instr::Fence(k) if k == kind))
        };
        for edge in &process.edges {
            if let Instr::Store { place, .. } = &edge.instr {
                for place in place.places() {
                    stored[place.index()] = true;
                }
            }
        }
        let buffered = options.model != Model::Sc;
        let stored = (0..stored.len()).filter(|&place| stored[place] && buffered);
        let stored: Vec<usize> = stored.collect();
        let any = !stored.is_empty();
        Buffers {
            name: name.to_string(),
            model: options.model,
            atomics: options.atomics,
            bound: options.bound,
            places: program.places.len(),
            store_store: any && options.model == Model::Pso && fence(FenceKind::StoreStore),
            store_load: any && fence(FenceKind::StoreLoad),
            stored,
        }
    }

    fn exists(&self) -> bool {
        !self.stored.is_empty()
    }

    fn slots(&self) -> usize {
        match self.model {
            Model::Pso => self.places * self.bound,
            _ => self.bound,
        }
    }

    pub fn declarations(&self, values: &str) -> String {
        let (name, slots) = (&self.name, self.slots());
        let mut out = String::new();
        if !self.exists() {
            return out;
        }
        // The numbers of places and of fences fit a short.
        let _ = match self.model {
            Model::Pso => write!(
                out,
                "byte n_{name}[{}];\n{values} val_{name}[{slots}];\n",
                self.places
            ),
            _ => write!(
                out,
                "byte n_{name};\n{values} val_{name}[{slots}];\nshort to_{name}[{slots}];\n"
            ),
        };
        if self.store_store {
            let _ = write!(out, "short age_{name}[{slots}];\nshort now_{name};\n");
        }
        if self.store_load {
            let _ = match self.model {
                Model::Pso => writeln!(out, "byte old_{name}[{}];", self.places),
                _ => writeln!(out, "byte old_{name};"),
            };
        }
        out
    }

    /// Joins a text for every place that may be stored to.
    fn each(&self, text: impl Fn(usize) -> String, join: &str) -> String {
        let parts: Vec<String> = self.stored.iter().map(|place| text(*place)).collect();
        format!("({})", parts.join(join))
    }

    /// Nothing is pending.
    pub fn empty(&self) -> String {
        let name = &self.name;
        match self.model {
            _ if !self.exists() => "true".to_string(),
            Model::Pso => self.each(|place| format!("n_{name}[{place}] == 0"), " && "),
            _ => format!("(n_{name} == 0)"),
        }
    }

    /// There is room for a store.
    pub fn room(&self, place: &str) -> String {
        let (name, bound) = (&self.name, self.bound);
        match self.model {
            _ if !self.exists() => "true".to_string(),
            Model::Pso => format!("(n_{name}[{place}] < {bound})"),
            _ => format!("(n_{name} < {bound})"),
        }
    }

    /// Appends a store.
    pub fn store(&self, place: &str, value: &str) -> String {
        let (name, bound) = (&self.name, self.bound);
        match self.model {
            _ if !self.exists() => format!("mem[{place}] = {value}"),
            Model::Pso => {
                let slot = format!("({place}) * {bound} + n_{name}[{place}]");
                let age = match self.store_store {
                    true => format!("age_{name}[{slot}] = now_{name}; "),
                    false => String::new(),
                };
                format!("val_{name}[{slot}] = {value}; {age}n_{name}[{place}]++")
            }
            _ => {
                format!("val_{name}[n_{name}] = {value}; to_{name}[n_{name}] = {place}; n_{name}++")
            }
        }
    }

    /// The value that a load finds.
    pub fn load(&self, place: &str) -> String {
        let (name, bound) = (&self.name, self.bound);
        let memory = format!("mem[{place}]");
        match self.model {
            _ if !self.exists() => memory,
            Model::Pso => format!(
                "(n_{name}[{place}] > 0 -> val_{name}[({place}) * {bound} + n_{name}[{place}] - 1] : {memory})"
            ),
            _ => (0..bound).fold(memory, |older, slot| {
                format!(
                    "(n_{name} > {slot} && to_{name}[{slot}] == {place} -> val_{name}[{slot}] : {older})"
                )
            }),
        }
    }

    /// No store-load fence makes loads wait.
    pub fn may_load(&self) -> Option<String> {
        let name = &self.name;
        self.store_load.then(|| match self.model {
            Model::Pso => self.each(|place| format!("old_{name}[{place}] == 0"), " && "),
            _ => format!("(old_{name} == 0)"),
        })
    }

    /// A read-modify-write of a place may happen.
    pub fn may_update(&self, place: &str) -> String {
        let name = &self.name;
        if !self.exists() || self.model != Model::Pso || self.atomics == Atomics::DrainAll {
            return self.empty();
        }
        let mut guard = format!("(n_{name}[{place}] == 0)");
        if let Some(loads) = self.may_load() {
            let _ = write!(guard, " && {loads}");
        }
        if self.store_store {
            let _ = write!(guard, " && now_{name} == 0");
        }
        guard
    }

    /// What a fence that does not block leaves behind.
    pub fn mark(&self, kind: FenceKind) -> Option<String> {
        let (name, bound) = (&self.name, self.bound);
        match (kind, self.model) {
            (FenceKind::StoreStore, Model::Pso) if self.store_store => {
                let newest = self.each(
                    |place| {
                        let last = format!("{place} * {bound} + n_{name}[{place}] - 1");
                        format!("(n_{name}[{place}] > 0 && age_{name}[{last}] == now_{name})")
                    },
                    " || ",
                );
                Some(format!("now_{name} = now_{name} + ({newest} -> 1 : 0)"))
            }
            (FenceKind::StoreLoad, Model::Pso) if self.store_load => {
                let stored = self.stored.iter();
                let all: Vec<String> = stored
                    .map(|place| format!("old_{name}[{place}] = n_{name}[{place}]"))
                    .collect();
                Some(all.join("; "))
            }
            (FenceKind::StoreLoad, Model::Tso) if self.store_load => {
                Some(format!("old_{name} = n_{name}"))
            }
            _ => None,
        }
    }

    /// The steps in which a store reaches memory.
    pub fn flushes(&self) -> Vec<String> {
        let (name, bound) = (&self.name, self.bound);
        if !self.exists() {
            return Vec::new();
        }
        if self.model != Model::Pso {
            let mut text = format!("mem[to_{name}[0]] = val_{name}[0]; ");
            text += &shifted(&format!("val_{name}"), 0, bound);
            text += &shifted(&format!("to_{name}"), 0, bound);
            if self.store_load {
                let _ = write!(
                    text,
                    "old_{name} = old_{name} - (old_{name} > 0 -> 1 : 0); "
                );
            }
            return vec![format!(
                "        :: d_step {{ n_{name} > 0; {text}n_{name}-- }}\n"
            )];
        }
        let flush = |place: &usize| {
            let first = place * bound;
            let mut guard = format!("n_{name}[{place}] > 0");
            let mut text = format!("mem[{place}] = val_{name}[{first}]; ");
            text += &shifted(&format!("val_{name}"), first, bound);
            if self.store_store {
                let _ = write!(guard, " && age_{name}[{first}] == 0");
                text += &shifted(&format!("age_{name}"), first, bound);
            }
            if self.store_load {
                let old = format!("old_{name}[{place}]");
                let _ = write!(text, "{old} = {old} - ({old} > 0 -> 1 : 0); ");
            }
            let settle = match self.store_store {
                true => format!("; {}", self.settle()),
                false => String::new(),
            };
            format!("        :: d_step {{ {guard}; {text}n_{name}[{place}]--{settle} }}\n")
        };
        self.stored.iter().map(flush).collect()
    }

    /// Counts store-store fences anew from the oldest pending entry.
    fn settle(&self) -> String {
        let (name, bound) = (&self.name, self.bound);
        let later = self.each(
            |place| {
                let first = place * bound;
                format!("(n_{name}[{place}] == 0 || age_{name}[{first}] > 0)")
            },
            " && ",
        );
        let slots = self
            .stored
            .iter()
            .flat_map(|place| place * bound..(place + 1) * bound);
        let fewer: Vec<String> = slots
            .map(|slot| {
                let age = format!("age_{name}[{slot}]");
                format!("{age} = {age} - ({age} > 0 -> 1 : 0)")
            })
            .collect();
        format!(
            "if :: {empty} -> now_{name} = 0 :: else -> do :: {later} -> now_{name}--; {fewer} :: else -> break od fi",
            empty = self.empty(),
            fewer = fewer.join("; ")
        )
    }
}

/// Moves the entries of a queue up by one and clears the last.
fn shifted(array: &str, first: usize, bound: usize) -> String {
    let mut text = String::new();
    for slot in first..first + bound - 1 {
        let _ = write!(text, "{array}[{slot}] = {array}[{}]; ", slot + 1);
    }
    let _ = write!(text, "{array}[{}] = 0; ", first + bound - 1);
    text
}
