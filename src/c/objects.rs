//! Objects in memory: their addresses, and the places of which they consist.
//!
//! An address is a number. Objects lie far apart, so that arithmetic which leaves one does not
//! end in another; each scalar takes eight numbers, so that pointers have low bits to spare.

use super::types::{Leaf, Qualified, Structs, Type};
use crate::program::{Initial, Place, PlaceId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The distance between the addresses of two objects.
pub const SPACING: Value = 1 << 20;

/// The distance between the addresses of two scalars of an object.
pub const STRIDE: Value = 8;

/// An object, by its position in [`Objects`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub usize);

/// An object: a variable, or a block of the heap.
#[derive(Debug, Clone)]
pub struct Object {
    pub name: String,
    pub ty: Qualified,
    leaves: Vec<Leaf>,
    first: PlaceId,
    initial: Vec<Value>,
}

/// All objects of a program, in the order of their addresses.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    all: Vec<Object>,
    places: u32,
}

/// What one reading of a program finds out that the next one needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Knowledge {
    /// The declarations of automatic variables that must live in memory.
    pub in_memory: BTreeSet<usize>,
    /// For each class of types, the addresses of all its objects inside objects that pointers
    /// may point to.
    pub addressed: BTreeMap<String, Vec<Value>>,
    /// For each class of types, the addresses that were taken of objects of it.
    pub taken: BTreeMap<String, BTreeSet<Value>>,
    /// Classes of types to whose pointers others are converted.
    pub converted: BTreeSet<String>,
    /// The addresses of all blocks of the heap.
    pub blocks: Vec<Value>,
    /// Whether anything is freed.
    pub freed: bool,
    /// Whether a thread is waited for.
    pub joined: bool,
    /// The number of threads that `main` creates.
    pub threads: u32,
    /// Whether the result of a thread is asked for.
    pub results: bool,
    /// For each thread, the places that it accesses, by name.
    pub accessed: Vec<BTreeSet<String>>,
    /// All scalars by address: their places, and how many bits they have.
    pub scalars: BTreeMap<Value, (PlaceId, u32)>,
}

impl Objects {
    /// Adds an object whose scalars are zero.
    pub fn add(&mut self, name: String, ty: Qualified, structs: &Structs) -> ObjectId {
        let leaves = structs.leaves(&ty);
        let first = PlaceId(self.places);
        self.places += leaves.len() as u32;
        self.all.push(Object {
            name,
            ty,
            initial: vec![0; leaves.len()],
            leaves,
            first,
        });
        ObjectId(self.all.len() - 1)
    }

    pub fn get(&self, id: ObjectId) -> &Object {
        &self.all[id.0]
    }

    /// The address of an object.
    pub fn address(&self, id: ObjectId) -> Value {
        (id.0 as Value + 1) * SPACING
    }

    /// The object that an address lies in or just behind.
    pub fn at(&self, address: Value) -> Option<ObjectId> {
        let index = usize::try_from(address / SPACING).ok()?.checked_sub(1)?;
        let object = self.all.get(index)?;
        let within = address % SPACING;
        let size = object.leaves.len() as Value * STRIDE;
        (address > 0 && within <= size).then_some(ObjectId(index))
    }

    /// The scalar at an address.
    pub fn place(&self, address: Value) -> Option<(PlaceId, &Leaf)> {
        let id = self.at(address)?;
        let object = self.get(id);
        let within = address - self.address(id);
        let leaf = usize::try_from(within / STRIDE).ok()?;
        let found = object.leaves.get(leaf).filter(|_| within % STRIDE == 0)?;
        Some((PlaceId(object.first.0 + leaf as u32), found))
    }

    /// Gives a scalar its first value.
    pub fn initialise(&mut self, address: Value, value: Value) {
        let Some(id) = self.at(address) else { return };
        let leaf = (address - self.address(id)) / STRIDE;
        if let Some(initial) = self.all[id.0].initial.get_mut(leaf as usize) {
            *initial = value;
        }
    }

    /// All scalars by address: their places, and how many bits they have.
    pub fn scalars(&self) -> BTreeMap<Value, (PlaceId, u32)> {
        let ids = (0..self.all.len()).map(ObjectId);
        let scalars = ids.flat_map(|id| {
            let object = self.get(id);
            let base = self.address(id);
            object.leaves.iter().zip(0..).map(move |(leaf, at)| {
                let place = PlaceId(object.first.0 + at as u32);
                (base + STRIDE * at, (place, bits(&leaf.ty.ty)))
            })
        });
        scalars.collect()
    }

    /// The places of all objects, in order.
    pub fn places(&self) -> Vec<Place> {
        let place = |object: &Object, leaf: &Leaf, initial: Value| Place {
            name: format!("{}{}", object.name, leaf.path),
            domain: match &leaf.ty.ty {
                Type::Int(number) => number.domain(),
                _ => super::types::Number::UNSIGNED_LONG.domain(),
            },
            initial: Initial::Value(initial),
            pointer: matches!(leaf.ty.ty, Type::Pointer(_)),
        };
        let all = self.all.iter().flat_map(|object| {
            let leaves = object.leaves.iter().zip(&object.initial);
            leaves.map(move |(leaf, initial)| place(object, leaf, *initial))
        });
        all.collect()
    }

    /// The names of all addresses.
    pub fn names(&self) -> BTreeMap<Value, String> {
        let ids = (0..self.all.len()).map(ObjectId);
        let named = ids.flat_map(|id| {
            let object = self.get(id);
            let base = self.address(id);
            let leaves = object.leaves.iter().zip(0..);
            let inside = leaves.map(move |(leaf, at)| {
                let address = base + STRIDE * at;
                (address, format!("&{}{}", object.name, leaf.path))
            });
            // The object and its first scalar have one address: the object is what people mean.
            inside.chain([(base, format!("&{}", object.name))])
        });
        named.collect()
    }
}

/// The number of bits of a scalar.
pub fn bits(ty: &Type) -> u32 {
    ty.number().map_or(0, |number| number.int.bits)
}

/// Types whose objects a pointer to one of them may be taken for.
pub fn class(structs: &Structs, ty: &Type) -> String {
    match ty {
        Type::Int(number) => format!("{} bits", number.int.bits),
        Type::Pointer(_) => "64 bits".to_string(),
        Type::Struct(id) => format!("struct {}", id.0),
        Type::Array(element, len) => format!("{}[{len}]", class(structs, &element.ty)),
        Type::Void | Type::Function => "nothing".to_string(),
    }
}
