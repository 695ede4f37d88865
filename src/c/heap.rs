//! The heap: a fixed number of blocks for each place in the text that allocates, each copy of
//! it by inlining, and each process.
//!
//! What is allocated in no loop needs one block. In a program that frees nothing, blocks are
//! handed out in order. Otherwise each block begins with a scalar that says whether it is in
//! use: `malloc` takes any block that is not, which covers every allocator; whoever follows a
//! pointer into a block that is not in use has failed. This bookkeeping happens at once and
//! waits for no store, since an allocator need not be a fence.

use super::access::Order;
use super::known::Arguments;
use super::lowering::{Lowering, Read};
use super::object::spread;
use super::objects::{ObjectId, SPACING, STRIDE};
use super::operand::{Lvalue, Operand, Val, Where, binary, equal, machine};
use super::types::{Field, Number, Qualified, Struct, StructId, Type};
use crate::program::{
    BinaryOp, Domain, Expr, Fault, Instr, LocalId, MachineOp, PlaceRef, Update, Value,
};
use crate::source::Span;
use lang_c::ast::{Expression, TypeName};
use lang_c::span::{Node, Span as Piece};
use std::rc::Rc;

/// Whether an expression allocates.
pub fn is_allocation(expr: &Node<Expression>) -> bool {
    allocation(expr).is_some()
}

/// An expression that allocates: the function, its arguments, and the type it is cast to.
fn allocation<'a>(
    expr: &'a Node<Expression>,
) -> Option<(&'a str, Arguments<'a>, Option<&'a Node<TypeName>>)> {
    match &expr.node {
        Expression::Cast(cast) => {
            let (name, arguments, _) = allocation(&cast.node.expression)?;
            Some((name, arguments, Some(&cast.node.type_name)))
        }
        Expression::Call(call) => {
            let name = super::call::called(&call.node.callee)?;
            let known = matches!(name, "malloc" | "calloc" | "aligned_alloc");
            known.then_some((name, &call.node.arguments, None))
        }
        _ => None,
    }
}

impl<'a> Lowering<'a> {
    /// The result of an allocation that is assigned to a pointer of a type.
    pub fn allocated(&mut self, expr: &'a Node<Expression>, wanted: &Type) -> Read<Operand> {
        let (name, arguments, cast) = allocation(expr).expect("it is an allocation");
        let piece = expr.span;
        let wanted = match cast {
            Some(ty) => self.type_name(ty)?.ty,
            None => wanted.clone(),
        };
        let Type::Pointer(element) = &wanted else {
            return self.error(piece, "an allocated block is assigned to a pointer");
        };
        let mut bytes = 1;
        let sizes = match name {
            "aligned_alloc" => &arguments[arguments.len().min(1)..],
            _ => arguments,
        };
        for size in sizes {
            match self.constant_or_none(size)? {
                Some(size) => bytes *= size,
                None => {
                    return self.refuse(
                        size.span,
                        "the size of an allocated block must be constant",
                        "allocate for the largest size",
                    );
                }
            }
        }
        let layout = self
            .structs
            .layout(&element.ty)
            .map(|(bytes, _)| bytes as Value);
        let each = layout.filter(|each| *each > 0 && bytes > 0 && bytes % each == 0);
        let Some(each) = each.filter(|_| element.ty != Type::Void) else {
            return self.refuse(
                piece,
                "the size is not that of whole objects of the type that is pointed to",
                "write malloc(sizeof *p), or n * sizeof *p",
            );
        };
        let elements = u32::try_from(bytes / each).unwrap_or(u32::MAX);
        let each_places = Value::from(self.places(piece, &element.ty)?);
        let content = match bytes / each {
            1 => (**element).clone(),
            count => {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                Type::Array(element.clone(), count).plain()
            }
        };
        self.places(piece, &content.ty)?;
        let again = self.repeated > 0;
        let count = if again { self.options.heap } else { 1 };
        let what = match &element.ty {
            Type::Struct(id) => self.structs.get(*id).name.clone(),
            _ => "block".to_string(),
        };
        let blocks: Vec<ObjectId> = (0..count)
            .map(|_| self.new_block(&what, &content))
            .collect();
        let address = match self.known.freed {
            false if again => self.next_block(&blocks, piece),
            false => Expr::Const(self.block_start(blocks[0])),
            true => self.free_block(&blocks, piece),
        };
        let region: Vec<Value> = blocks.iter().map(|id| self.block_start(*id)).collect();
        let elements = spread(&Rc::new(region.clone()), each_places * STRIDE, elements);
        self.address_taken(&element.ty, &elements);
        let region = Rc::new(region);
        if name == "calloc" && self.known.freed {
            let block = Lvalue {
                ty: content.clone(),
                at: Where::Memory {
                    address: address.clone(),
                    region: region.clone(),
                },
            };
            let span = self.span(piece);
            for (offset, leaf) in self.structs.leaves(&content).into_iter().enumerate() {
                let part = self.part(&block, offset as u32, leaf.ty);
                self.store(&part, Expr::Const(0), Order::Relaxed, span);
            }
        }
        // Which of the blocks it is may be forgotten by a variable, but not that it is one.
        Ok(Operand {
            ty: wanted,
            value: Val::Scalar(address, Some(region)),
        })
    }

    /// A new block. Where blocks are freed, a scalar before it says whether it is in use.
    fn new_block(&mut self, what: &str, content: &Qualified) -> ObjectId {
        let number = self.block_names.entry(what.to_string()).or_insert(0);
        *number += 1;
        let name = format!("{what}#{number}");
        let ty = match self.known.freed {
            false => content.clone(),
            true => {
                let id = StructId(self.structs.0.len());
                let used = Field {
                    name: Some("in_use".to_string()),
                    ty: Type::Int(Number::BOOL).plain(),
                    offset: 0,
                };
                let inside = Field {
                    name: None,
                    ty: content.clone(),
                    offset: 1,
                };
                self.structs.0.push(Struct {
                    name: name.clone(),
                    fields: Some(vec![used, inside]),
                });
                Type::Struct(id).plain()
            }
        };
        let id = self.objects.add(name, ty, &self.structs);
        self.blocks.push(id);
        id
    }

    fn block_start(&self, block: ObjectId) -> Value {
        self.objects.address(block) + STRIDE * Value::from(self.known.freed)
    }

    /// Blocks are handed out in order.
    fn next_block(&mut self, blocks: &[ObjectId], piece: Piece) -> Expr<LocalId> {
        let first = Expr::Const(self.block_start(blocks[0]));
        let span = self.span(piece);
        let most = blocks.len() as Value;
        let domain = Domain { low: 0, high: most };
        let counter = self.code.local("allocated", domain, 0);
        let now = Expr::Atom(counter);
        let left = binary(BinaryOp::Less, now.clone(), Expr::Const(most));
        self.code.require(left, Fault::HeapExhausted, span);
        let long = Number::UNSIGNED_LONG;
        let behind = machine(MachineOp::Mul, long, now.clone(), Expr::Const(SPACING));
        let address = self.code.temporary(long.domain());
        let value = machine(MachineOp::Add, long, first, behind);
        self.code.assign(address, value, span);
        let next = binary(BinaryOp::Add, now, Expr::Const(1));
        self.code.assign(counter, next, span);
        Expr::Atom(address)
    }

    /// Any block that is not in use. If the process passes by one that is free, it must find
    /// another; the heap is exhausted only if all are in use.
    fn free_block(&mut self, blocks: &[ObjectId], piece: Piece) -> Expr<LocalId> {
        let span = self.span(piece);
        let address = self.code.temporary(Number::UNSIGNED_LONG.domain());
        let found = self.code.location();
        let mut passed_by = None;
        for (index, block) in blocks.iter().enumerate() {
            let last = index + 1 == blocks.len();
            let (use_it, next) = (self.code.location(), self.code.location());
            let before = self.code.at;
            self.take(*block, use_it, next, span);
            let mut later = None;
            if !last {
                // From here on, a block has been passed by.
                let skip = self.code.location();
                self.code.edge(before, skip, Instr::Pass, span);
                later = Some(skip);
            }
            if let Some(at) = passed_by {
                let gone = self.code.location();
                self.code.at = at;
                self.take(*block, use_it, later.unwrap_or(gone), span);
                if let Some(later) = later {
                    self.code.edge(at, later, Instr::Pass, span);
                }
            }
            self.code.at = use_it;
            let start = Expr::Const(self.block_start(*block));
            self.code.assign(address, start, span);
            self.code.pass_to(found, span);
            self.code.at = next;
            passed_by = later.or(passed_by);
        }
        self.code
            .require(Expr::Const(0), Fault::HeapExhausted, span);
        self.code.at = found;
        Expr::Atom(address)
    }

    /// Takes a block into use and goes on at `taken`, or at `busy`.
    fn take(
        &mut self,
        block: ObjectId,
        taken: crate::program::Loc,
        busy: crate::program::Loc,
        span: Span,
    ) {
        let place = self.in_use(block);
        let old = self.code.temporary(Domain::BOOL);
        let op = Update::CasOld {
            expected: Expr::Const(0),
            new: Expr::Const(1),
        };
        self.bookkeep(old, place, op, span);
        self.code.branch(Expr::Atom(old), busy, taken, span);
    }

    fn bookkeep(&mut self, local: LocalId, place: PlaceRef, op: Update, span: Span) {
        let waits = false;
        let update = Instr::Update {
            local,
            place,
            op,
            waits,
        };
        self.code.emit(update, span);
    }

    /// The place that says whether a block is in use.
    fn in_use(&self, block: ObjectId) -> PlaceRef {
        let found = self.objects.place(self.objects.address(block));
        PlaceRef::Scalar(found.expect("a block has places").0)
    }

    pub fn free(&mut self, pointer: Operand, piece: Piece) -> Read<Operand> {
        self.found.freed = true;
        let span = self.span(piece);
        let address = self.scalar(pointer, piece)?;
        if !self.known.freed {
            return Ok(Operand::nothing());
        }
        let (some, end) = (self.code.location(), self.code.location());
        self.code.branch(address.clone(), some, end, span);
        self.code.at = some;
        let base = machine(
            MachineOp::Sub,
            Number::UNSIGNED_LONG,
            address,
            Expr::Const(STRIDE),
        );
        let blocks = &self.known.blocks;
        let targets = blocks
            .iter()
            .filter_map(|address| Some((*address, self.known.scalars.get(address)?.0)));
        let place = PlaceRef::Computed {
            address: base,
            targets: targets.collect(),
        };
        let old = self.code.temporary(Domain::BOOL);
        let op = Update::CasOld {
            expected: Expr::Const(1),
            new: Expr::Const(0),
        };
        self.bookkeep(old, place, op, span);
        self.code.require(Expr::Atom(old), Fault::Freed, span);
        self.code.pass_to(end, span);
        Ok(Operand::nothing())
    }

    /// Fails if an address lies in a block that is not in use.
    pub fn check_use(&mut self, address: &Expr<LocalId>, region: &[Value], span: Span) {
        if !self.known.freed {
            return;
        }
        let base = |address: Value| address / SPACING * SPACING;
        let known = &self.known.blocks;
        let blocks: Vec<Value> = region.iter().map(|a| base(*a)).collect();
        if !blocks.iter().any(|base| known.contains(base)) {
            return;
        }
        let mut targets = Vec::new();
        for address in blocks {
            // What is not on the heap is always in use.
            let lasting = self.lasting.map(|id| self.objects.address(id));
            let says = match known.contains(&address) {
                true => Some(address),
                false => lasting,
            };
            let found = says.and_then(|says| self.known.scalars.get(&says));
            targets.extend(found.map(|(place, _)| (address, *place)));
        }
        targets.sort_unstable();
        targets.dedup();
        let mask = Expr::Const(-SPACING);
        let base = machine(
            MachineOp::BitAnd,
            Number::UNSIGNED_LONG,
            address.clone(),
            mask,
        );
        let place = match base.constant() {
            Some(base) => match targets.iter().find(|(address, _)| *address == base) {
                Some((_, place)) => PlaceRef::Scalar(*place),
                None => return,
            },
            None => PlaceRef::Computed {
                address: base,
                targets: targets.into(),
            },
        };
        let local = self.code.temporary(Domain::BOOL);
        self.code.emit(Instr::Load { local, place }, span);
        let used = equal(Expr::Atom(local), Expr::Const(1));
        self.code.require(used, Fault::Freed, span);
    }
}
