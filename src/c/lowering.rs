//! What is known while a program is read: declarations, objects, the process that is built, and
//! the calls that are being inlined.

use super::Options;
use super::code::Code;
use super::objects::{Knowledge, ObjectId, Objects, class};
use super::operand::{Lvalue, Operand, Val, Where};
use super::positions::Preprocessed;
use super::types::{Qualified, StructId, Structs, Type};
use crate::diagnostic::Diagnostic;
use crate::program::{EdgeId, Expr, Loc, LocalId, Value};
use crate::source::Span;
use lang_c::ast::{Declaration, FunctionDefinition};
use lang_c::span::{Node, Span as Piece};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// A part of the reading, or the message that ends it.
pub type Read<T> = Result<T, Box<Diagnostic>>;

/// A process that `main` creates.
#[derive(Debug, Clone)]
pub struct Creation {
    pub edge: EdgeId,
    /// The edge before it, which counts threads.
    pub count: EdgeId,
    pub function: String,
    pub argument: Expr<LocalId>,
    pub span: Span,
}

pub struct Lowering<'a> {
    pub text: &'a Preprocessed,
    pub options: &'a Options,
    pub structs: Structs,
    /// Structures by where they are declared.
    pub declared: HashMap<usize, StructId>,
    pub functions: HashMap<String, &'a Node<FunctionDefinition>>,
    /// Innermost last; the first is that of the file.
    pub scopes: Vec<Scope>,
    pub objects: Objects,
    /// What the reading before this one has found out.
    pub known: &'a Knowledge,
    /// What this one finds out.
    pub found: Knowledge,
    /// Objects that pointers may point to.
    pub addressed: BTreeSet<ObjectId>,
    /// Static variables of functions, by where they are declared.
    pub statics: HashMap<usize, ObjectId>,
    /// Statements whose memory order stands for a fence.
    pub ordered: BTreeSet<Span>,
    /// The process that is built.
    pub code: Code,
    /// Its thread-local variables, by where they are declared.
    pub thread_locals: HashMap<usize, Storage>,
    pub process: String,
    /// Whether it is the one that starts with `main`.
    pub is_main: bool,
    pub creations: Vec<Creation>,
    /// Counts the threads that were created.
    pub threads: Option<LocalId>,
    /// For each thread, whether it has been created.
    pub starts: Option<ObjectId>,
    /// For each thread, whether it has ended.
    pub ends: Option<ObjectId>,
    /// For each thread, its result.
    pub results: Option<ObjectId>,
    /// What is in use for ever, as all that is not on the heap.
    pub lasting: Option<ObjectId>,
    /// Calls that are being inlined, outermost first.
    pub frames: Vec<Frame>,
    /// The number of loops and labels around what is read, in all calls.
    pub repeated: u32,
    /// Where an atomic section began: its first edge, and its location.
    pub section: Option<(usize, Loc)>,
    /// The blocks of the heap.
    pub blocks: Vec<ObjectId>,
    /// How many of them have a name.
    pub block_names: BTreeMap<String, u32>,
    /// The values that `__VERIFIER_nondet_int` may give here, by the assumption behind it.
    pub choice: Option<(Value, Value)>,
    /// Declarations of the file that each process has variables of its own for.
    pub per_thread: Vec<&'a Node<Declaration>>,
}

#[derive(Default)]
pub struct Scope {
    pub names: HashMap<String, Entity>,
    pub tags: HashMap<String, Tag>,
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Entity {
    Typedef(Qualified),
    Constant(Operand),
    Variable(Variable),
    Function,
}

#[derive(Debug, Clone)]
pub enum Tag {
    Struct(StructId),
    /// Whether a value is negative.
    Enum(bool),
}

#[derive(Debug, Clone)]
pub struct Variable {
    pub ty: Qualified,
    pub storage: Storage,
}

#[derive(Debug, Clone)]
pub enum Storage {
    Memory(ObjectId),
    /// In locals, from this one on; and where it is declared.
    Locals(LocalId, usize),
    /// A parameter that keeps its value.
    Value(Operand),
}

/// A call that is being inlined.
pub struct Frame {
    pub function: String,
    pub returns: Loc,
    /// Where the result goes.
    pub result: Option<Lvalue>,
    pub labels: HashMap<String, Loc>,
    /// The variables that it changes or whose address it takes.
    pub changed: HashSet<String>,
    /// Where `break` leads.
    pub breaks: Vec<Loc>,
    /// Where `continue` leads.
    pub continues: Vec<Loc>,
    /// The locations of the cases of the switch around, by where they stand.
    pub cases: HashMap<usize, Loc>,
    /// The scopes of the caller, which are not seen from here.
    pub scopes: Vec<Scope>,
}

impl<'a> Lowering<'a> {
    /// Where a piece of the preprocessed text was typed.
    pub fn span(&self, piece: Piece) -> Span {
        self.text.locate(Span::new(piece.start, piece.end)).span
    }

    pub fn error<T>(&self, piece: Piece, message: impl Into<String>) -> Read<T> {
        Err(Box::new(Diagnostic::error(self.span(piece), message)))
    }

    pub fn refuse<T>(
        &self,
        piece: Piece,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Read<T> {
        let diagnostic = Diagnostic::error(self.span(piece), message).help(help);
        Err(Box::new(diagnostic))
    }

    pub fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("code belongs to a function")
    }

    /// What a name stands for here.
    pub fn lookup(&self, name: &str) -> Option<&Entity> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.names.get(name))
    }

    pub fn define(&mut self, name: &str, entity: Entity) {
        let scope = self.scopes.last_mut().expect("there is a scope");
        scope.names.insert(name.to_string(), entity);
    }

    /// Runs `inside` with a scope of its own.
    pub fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.scopes.push(Scope::default());
        let result = inside(self);
        self.scopes.pop();
        result
    }

    /// The number of scalars of a complete type.
    pub fn places(&self, piece: Piece, ty: &Type) -> Read<u32> {
        match self.structs.places(ty) {
            Some(places) if places <= self.options.max_scalars => Ok(places),
            Some(places) => self.refuse(
                piece,
                format!("an object of {places} scalars is too large"),
                format!("at most {} are read", self.options.max_scalars),
            ),
            None => {
                let name = self.structs.name(ty);
                self.error(piece, format!("the type '{name}' is not complete here"))
            }
        }
    }

    /// A new variable of the process that is built: in locals, or in memory if its address is
    /// needed.
    pub fn automatic(&mut self, piece: Piece, name: &str, ty: &Qualified) -> Read<Storage> {
        self.places(piece, &ty.ty)?;
        if self.known.in_memory.contains(&piece.start) {
            // What was found out stays true.
            self.found.in_memory.insert(piece.start);
            let name = format!("{}.{name}", self.process);
            let object = self.objects.add(name, ty.clone(), &self.structs);
            return Ok(Storage::Memory(object));
        }
        let first = LocalId(self.code.locals.len() as u32);
        for leaf in self.structs.leaves(ty) {
            let number = leaf.ty.ty.number().expect("a leaf is a scalar");
            let name = format!("{name}{}", leaf.path);
            self.code.local(&name, number.domain(), 0);
        }
        Ok(Storage::Locals(first, piece.start))
    }

    /// The object that a variable is.
    pub fn variable(&mut self, variable: &Variable) -> Lvalue {
        let at = match &variable.storage {
            Storage::Memory(object) => {
                let address = self.objects.address(*object);
                Where::Memory {
                    address: Expr::Const(address),
                    region: Rc::new(vec![address]),
                }
            }
            Storage::Locals(first, declared) => Where::Locals {
                first: *first,
                offset: Expr::Const(0),
                offsets: Rc::new(vec![0]),
                declared: *declared,
            },
            Storage::Value(_) => unreachable!("a value is no object"),
        };
        Lvalue {
            ty: variable.ty.clone(),
            at,
        }
    }

    /// The addresses that a pointer to a type may have: those that were taken of objects of the
    /// type; or those of all such objects, if other pointers are converted to this one.
    pub fn addressed_objects(&self, ty: &Type) -> Rc<Vec<Value>> {
        let class = class(ty);
        Rc::new(match self.known.converted.contains(&class) {
            true => self
                .known
                .addressed
                .get(&class)
                .cloned()
                .unwrap_or_default(),
            false => {
                let taken = self.known.taken.get(&class);
                taken.into_iter().flatten().copied().collect()
            }
        })
    }

    /// Remembers that pointers to a type may have these addresses.
    pub fn address_taken(&mut self, ty: &Type, region: &[Value]) {
        let objects = region
            .iter()
            .filter_map(|address| self.objects.at(*address));
        self.addressed.extend(objects);
        let class = class(ty);
        self.found.taken.entry(class).or_default().extend(region);
    }

    /// Remembers that a pointer to another type, or a number, becomes a pointer to this one.
    pub fn pointer_converted(&mut self, operand: &Operand, to: &Type) {
        let class = class(to);
        match &operand.value {
            Val::Scalar(_, Some(region)) => {
                let region = region.clone();
                self.address_taken(to, &region);
            }
            Val::Scalar(value, None) => match value.constant() {
                Some(address) => self.address_taken(to, &[address]),
                None => {
                    self.found.converted.insert(class);
                }
            },
            Val::ToLocal(_) | Val::Object(_) | Val::Nothing => {}
        }
    }

    /// Sums up what this reading has found out for the next one.
    pub fn conclude(&mut self) {
        self.found.scalars = self.objects.scalars();
        self.found.blocks = self
            .blocks
            .iter()
            .map(|id| self.objects.address(*id))
            .collect();
        for id in &self.addressed {
            let base = self.objects.address(*id);
            let object = self.objects.get(*id);
            let structs = &self.structs;
            let all = &mut self.found.addressed;
            structs.inside(&object.ty.ty, 0, &mut |ty, offset| {
                let addresses = all.entry(class(ty)).or_default();
                addresses.push(base + super::objects::STRIDE * Value::from(offset));
            });
        }
        for addresses in self.found.addressed.values_mut() {
            addresses.sort_unstable();
            addresses.dedup();
        }
    }
}
