//! Initial values of variables.

use super::access::Order;
use super::lowering::{Lowering, Read};
use super::operand::{Lvalue, Operand, Val, Where};
use super::types::Type;
use crate::program::{Expr, Initial, Value};
use lang_c::ast::*;
use lang_c::span::{Node, Span as Piece};

/// A scalar and the expression of its initial value.
type Part<'a> = (Lvalue, &'a Node<Expression>);

impl<'a> Lowering<'a> {
    /// The number of elements that an initialiser gives to an array.
    pub fn initializer_length(&mut self, initializer: &'a Node<Initializer>) -> Read<u32> {
        let Initializer::List(items) = &initializer.node else {
            return self.error(initializer.span, "a list is needed here");
        };
        let (mut next, mut most) = (0, 0);
        for item in items {
            if let Some(designator) = item.node.designation.first()
                && let Designator::Index(index) = &designator.node
            {
                let index = self.constant(index)?;
                next = u32::try_from(index).unwrap_or(0);
            }
            next += 1;
            most = most.max(next);
        }
        Ok(most)
    }

    /// The scalars of an object that an initialiser names, with their values.
    pub fn initial_values(
        &mut self,
        object: &Lvalue,
        initializer: &'a Node<Initializer>,
    ) -> Read<Vec<Part<'a>>> {
        let mut parts = Vec::new();
        match &initializer.node {
            Initializer::Expression(value) => parts.push((object.clone(), &**value)),
            Initializer::List(items) => {
                self.list(object, &mut items.iter().peekable(), true, &mut parts)?;
            }
        }
        Ok(parts)
    }

    /// Takes what an object needs from a list; a list of its own ends where the object ends.
    fn list(
        &mut self,
        object: &Lvalue,
        items: &mut std::iter::Peekable<std::slice::Iter<'a, Node<InitializerListItem>>>,
        whole: bool,
        parts: &mut Vec<Part<'a>>,
    ) -> Read<()> {
        let members = self.members(object);
        let Some(members) = members else {
            // A scalar in braces.
            if let Some(item) = items.next() {
                parts.extend(self.initial_values(object, &item.node.initializer)?);
            }
            return Ok(());
        };
        let mut next = 0;
        while let Some(item) = items.peek() {
            let mut target = None;
            if let Some((first, rest)) = item.node.designation.split_first() {
                if !whole {
                    return Ok(());
                }
                next = self.designated(object, first)?;
                let mut part = members.get(next).cloned();
                for designator in rest {
                    let Some(inner) = &part else { break };
                    let at = self.designated(inner, designator)?;
                    part = self
                        .members(inner)
                        .and_then(|inside| inside.get(at).cloned());
                }
                target = part;
            }
            let Some(part) = target.or_else(|| members.get(next).cloned()) else {
                return match whole {
                    true => {
                        let piece = item.span;
                        self.error(piece, "there is nothing left to be given this value")
                    }
                    false => Ok(()),
                };
            };
            next += 1;
            match &item.node.initializer.node {
                Initializer::List(inner) => {
                    self.list(&part, &mut inner.iter().peekable(), true, parts)?;
                    items.next();
                }
                Initializer::Expression(value) => {
                    let structure = matches!(part.ty.ty, Type::Struct(_) | Type::Array(..));
                    let same = structure
                        && matches!(value.node, Expression::Call(_) | Expression::Identifier(_))
                        && self.type_of(value)? == part.ty.ty;
                    if structure && !same {
                        self.list(&part, items, false, parts)?;
                    } else {
                        parts.push((part, value));
                        items.next();
                    }
                }
            }
        }
        Ok(())
    }

    /// The elements or fields of an object; `None` for a scalar.
    fn members(&mut self, object: &Lvalue) -> Option<Vec<Lvalue>> {
        match object.ty.ty.clone() {
            Type::Array(element, len) => {
                let places = self.structs.places(&element.ty)?;
                let element = |index| (index * places, (*element).clone());
                let all: Vec<_> = (0..len).map(element).collect();
                Some(
                    all.into_iter()
                        .map(|(offset, ty)| self.part(object, offset, ty))
                        .collect(),
                )
            }
            Type::Struct(id) => {
                let fields = self.structs.get(id).fields.clone()?;
                Some(
                    fields
                        .into_iter()
                        .map(|field| self.part(object, field.offset, field.ty))
                        .collect(),
                )
            }
            _ => None,
        }
    }

    /// Which member a designator names.
    fn designated(&mut self, object: &Lvalue, designator: &'a Node<Designator>) -> Read<usize> {
        match (&designator.node, &object.ty.ty) {
            (Designator::Index(index), Type::Array(..)) => {
                let value = self.constant(index)?;
                Ok(usize::try_from(value).unwrap_or(usize::MAX))
            }
            (Designator::Member(name), Type::Struct(id)) => {
                let fields = self.structs.get(*id).fields.iter().flatten();
                let mut names = fields.map(|field| field.name.as_deref());
                match names.position(|own| own == Some(&name.node.name)) {
                    Some(at) => Ok(at),
                    None => {
                        let message = format!("there is no field '{}'", name.node.name);
                        self.error(designator.span, message)
                    }
                }
            }
            (Designator::Range(_), _) => {
                self.refuse(designator.span, "ranges are not read", "name each element")
            }
            _ => self.error(designator.span, "this names nothing here"),
        }
    }

    /// The value of an initialiser for a type; what `malloc` gives is known by it.
    pub fn initial_value(&mut self, ty: &Type, value: &'a Node<Expression>) -> Read<Operand> {
        match super::heap::is_allocation(value) {
            true => self.allocated(value, ty),
            false => self.value(value),
        }
    }

    /// Initialises an automatic variable each time that control comes to its declaration.
    pub fn automatic_initializer(
        &mut self,
        object: &Lvalue,
        initializer: &'a Node<Initializer>,
        piece: Piece,
    ) -> Read<()> {
        match &initializer.node {
            Initializer::Expression(value) => {
                let value = self.initial_value(&object.ty.ty, value)?;
                let piece = Piece {
                    start: piece.start,
                    end: initializer.span.end,
                };
                self.assign(object, value, Order::Relaxed, piece)?;
            }
            Initializer::List(items) => self.list_initializer(object, items, piece)?,
        }
        Ok(())
    }

    /// Initialises an object by a list; what the list does not name is zero.
    pub fn list_initializer(
        &mut self,
        object: &Lvalue,
        items: &'a [Node<InitializerListItem>],
        piece: Piece,
    ) -> Read<()> {
        let span = self.span(piece);
        let leaves = self.structs.leaves(&object.ty);
        for (offset, leaf) in leaves.into_iter().enumerate() {
            let part = self.part(object, offset as u32, leaf.ty);
            self.store(&part, Expr::Const(0), Order::Relaxed, span);
        }
        let mut parts = Vec::new();
        self.list(object, &mut items.iter().peekable(), true, &mut parts)?;
        for (part, value) in parts {
            let value = self.value(value)?;
            self.assign(&part, value, Order::Relaxed, piece)?;
        }
        Ok(())
    }

    /// Gives a variable that lasts its first value, which must be constant.
    pub fn static_initializer(
        &mut self,
        object: &Lvalue,
        initializer: &'a Node<Initializer>,
    ) -> Read<()> {
        for (part, expr) in self.initial_values(object, initializer)? {
            if !part.ty.ty.is_scalar() {
                return self.error(expr.span, "a list is needed here");
            }
            let value = self.value(expr)?;
            let value = self.converted(value, &part.ty.ty, expr.span)?;
            let Some(constant) = value.constant() else {
                return self.error(expr.span, "a constant is needed here");
            };
            self.initialise(&part, constant);
        }
        Ok(())
    }

    fn initialise(&mut self, part: &Lvalue, value: Value) {
        match &part.at {
            Where::Memory { address, .. } => {
                if let Some(address) = address.constant() {
                    self.objects.initialise(address, value);
                }
            }
            Where::Locals { first, offset, .. } => {
                if let Some(offset) = offset.constant() {
                    let local = first.index() + offset as usize;
                    self.code.locals[local].initial = Initial::Value(value);
                }
            }
        }
    }

    /// The value of `({ … })`: that of its last statement.
    pub fn statement_value(&mut self, body: &'a Node<Statement>) -> Read<Operand> {
        let Statement::Compound(items) = &body.node else {
            return self.error(body.span, "a block is needed here");
        };
        self.scoped(|this| {
            let (last, before) = match items.split_last() {
                Some(split) => split,
                None => return Ok(Operand::nothing()),
            };
            for item in before {
                this.block_item(item)?;
            }
            match &last.node {
                BlockItem::Statement(statement) => match &statement.node {
                    Statement::Expression(Some(value)) => {
                        let value = this.value(value)?;
                        this.kept(value, last.span)
                    }
                    _ => {
                        this.block_item(last)?;
                        Ok(Operand::nothing())
                    }
                },
                _ => {
                    this.block_item(last)?;
                    Ok(Operand::nothing())
                }
            }
        })
    }

    /// A value that stays what it is when variables change.
    pub fn kept(&mut self, value: Operand, piece: Piece) -> Read<Operand> {
        let (Val::Scalar(expr, region), Some(number)) = (&value.value, value.ty.number()) else {
            return Ok(value);
        };
        if expr.constant().is_some() {
            return Ok(value);
        }
        let span = self.span(piece);
        let local = self.code.temporary(number.domain());
        self.code.assign(local, expr.clone(), span);
        Ok(Operand {
            ty: value.ty.clone(),
            value: Val::Scalar(Expr::Atom(local), region.clone()),
        })
    }
}
