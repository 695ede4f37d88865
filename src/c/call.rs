//! Calls of functions that the program defines: each call is a copy of the body.

use super::lowering::{Entity, Frame, Lowering, Read, Scope, Storage, Variable};
use super::operand::{Lvalue, Operand, Val, Where};
use super::types::{Qualified, Type};
use crate::program::{Expr, LocalId};
use lang_c::ast::*;
use lang_c::span::{Node, Span as Piece};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

impl<'a> Lowering<'a> {
    pub fn call(&mut self, call: &'a Node<CallExpression>, piece: Piece) -> Read<Operand> {
        let callee = called(&call.node.callee);
        let Some(name) = callee else {
            return self.refuse(
                call.node.callee.span,
                "calls through pointers are not read",
                "call the function by its name",
            );
        };
        let variable = matches!(self.lookup(name), Some(Entity::Variable(_)));
        if variable {
            return self.refuse(
                call.node.callee.span,
                "calls through pointers are not read",
                "call the function by its name",
            );
        }
        let arguments = &call.node.arguments;
        let own = self.functions.get(name).copied();
        match own {
            Some(function) if !is_idiom(name) => {
                let atomic = name.starts_with("__VERIFIER_atomic");
                if atomic {
                    self.begin_section(piece)?;
                }
                let mut values = Vec::new();
                for (at, argument) in arguments.iter().enumerate() {
                    let value = self.value(argument)?;
                    let later = arguments[at + 1..].iter().any(super::expr::changes);
                    let value = match later {
                        true => self.kept(value, argument.span)?,
                        false => value,
                    };
                    values.push((value, argument.span));
                }
                let result = self.inline(function, name, values, piece)?;
                if atomic {
                    self.end_section(piece)?;
                }
                Ok(result)
            }
            _ => self.known_call(name, arguments, piece),
        }
    }

    /// Copies the body of a function to where it is called.
    pub fn inline(
        &mut self,
        function: &'a Node<FunctionDefinition>,
        name: &str,
        values: Vec<(Operand, Piece)>,
        piece: Piece,
    ) -> Read<Operand> {
        if self.frames.iter().any(|frame| frame.function == name) {
            return self.refuse(
                piece,
                format!("'{name}' calls itself"),
                "recursion is not read; write a loop",
            );
        }
        let span = self.span(piece);
        let outer = self.scopes.split_off(1);
        self.scopes.push(Scope::default());
        let specified = self.specified(function.span, &function.node.specifiers)?;
        let Some(declared) = signature(&function.node.declarator) else {
            return self.error(function.span, "this function has no parameters");
        };
        let base = self.returned(specified.ty, &function.node.declarator)?;
        let result = match base.ty {
            Type::Void => None,
            _ => Some(self.result(&base, function.node.declarator.span)?),
        };
        let changed = changed_names(&function.node.statement);
        let labels = has_labels(&function.node.statement);
        if declared.ellipsis == Ellipsis::Some {
            return self.refuse(
                function.node.declarator.span,
                "variadic functions are not read",
                "pass an array or a structure",
            );
        }
        self.parameters(&declared.parameters, values, &changed, piece)?;
        let returns = self.code.location();
        self.frames.push(Frame {
            function: name.to_string(),
            returns,
            result: result.clone(),
            labels: HashMap::new(),
            changed,
            breaks: Vec::new(),
            continues: Vec::new(),
            cases: HashMap::new(),
            scopes: outer,
        });
        self.repeated += u32::from(labels);
        let Statement::Compound(items) = &function.node.statement.node else {
            return self.error(function.span, "this function has no body");
        };
        let body = self.block(items, function.node.statement.span);
        self.repeated -= u32::from(labels);
        let frame = self.frames.pop().expect("it was pushed");
        self.scopes.truncate(1);
        self.scopes.extend(frame.scopes);
        body?;
        self.code.pass_to(returns, span);
        match result {
            Some(result) => self.read(result, piece),
            None => Ok(Operand::nothing()),
        }
    }

    /// Where the result of a call goes: a temporary, or locals of a structure.
    fn result(&mut self, ty: &Qualified, piece: Piece) -> Read<Lvalue> {
        let first = match ty.ty.number() {
            Some(number) if ty.ty.is_scalar() => self.code.temporary(number.domain()),
            _ => {
                self.places(piece, &ty.ty)?;
                let first = LocalId(self.code.locals.len() as u32);
                for leaf in self.structs.leaves(ty) {
                    let number = leaf.ty.ty.number().expect("a leaf is a scalar");
                    let name = format!("result{}", leaf.path);
                    self.code.local(&name, number.domain(), 0);
                }
                first
            }
        };
        Ok(Lvalue {
            ty: ty.clone(),
            at: Where::Locals {
                first,
                offset: Expr::Const(0),
                offsets: Rc::new(vec![0]),
                declared: piece.start,
            },
        })
    }

    /// The type that a function returns: what its declarator makes of the type before it.
    fn returned(&mut self, base: Qualified, declarator: &'a Node<Declarator>) -> Read<Qualified> {
        let mut ty = base;
        for derived in &declarator.node.derived {
            if let DerivedDeclarator::Pointer(_) = derived.node {
                ty = Type::pointer(ty).plain();
            }
        }
        Ok(ty)
    }

    fn parameters(
        &mut self,
        parameters: &'a [Node<ParameterDeclaration>],
        values: Vec<(Operand, Piece)>,
        changed: &HashSet<String>,
        piece: Piece,
    ) -> Read<()> {
        let mut declared = Vec::new();
        for parameter in parameters {
            let base = self
                .specified(parameter.span, &parameter.node.specifiers)?
                .ty;
            let (name, ty) = match &parameter.node.declarator {
                Some(declarator) => self.declarator(base, declarator)?,
                None => (None, base),
            };
            // An array is passed as a pointer.
            let ty = match ty.ty {
                Type::Array(element, _) => Type::Pointer(element).plain(),
                Type::Void => continue,
                _ => ty,
            };
            declared.push((name, ty));
        }
        if declared.len() != values.len() {
            let message = format!(
                "{} arguments where {} are needed",
                values.len(),
                declared.len()
            );
            return self.error(piece, message);
        }
        for ((name, ty), (value, at)) in declared.into_iter().zip(values) {
            let Some(name) = name else { continue };
            let value = match ty.ty {
                Type::Struct(_) => value,
                _ => self.converted(value, &ty.ty, at)?,
            };
            let keeps = !changed.contains(&name.node.name);
            let storage = self.parameter(name, &ty, value, keeps, at)?;
            self.define(&name.node.name, Entity::Variable(Variable { ty, storage }));
        }
        Ok(())
    }

    /// What a parameter or a variable with an initial value is: the value itself where neither
    /// can change, a variable otherwise.
    pub fn parameter(
        &mut self,
        name: &'a Node<Identifier>,
        ty: &Qualified,
        value: Operand,
        keeps: bool,
        at: Piece,
    ) -> Read<Storage> {
        if keeps && value.is_fixed() {
            return Ok(Storage::Value(value));
        }
        let storage = self.automatic(name.span, &name.node.name, ty)?;
        let variable = Variable {
            ty: ty.clone(),
            storage: storage.clone(),
        };
        let object = self.variable(&variable);
        let region = match &value.value {
            Val::Scalar(_, region) => region.clone(),
            _ => None,
        };
        self.assign(&object, value, super::access::Order::Relaxed, at)?;
        match (storage, region) {
            (Storage::Locals(local, _), Some(region)) if keeps => Ok(Storage::Value(Operand {
                ty: ty.ty.clone(),
                value: Val::Scalar(Expr::Atom(local), Some(region)),
            })),
            (storage, _) => Ok(storage),
        }
    }
}

/// Functions whose meaning is known better than their bodies say.
fn is_idiom(name: &str) -> bool {
    let section = ["__VERIFIER_atomic_begin", "__VERIFIER_atomic_end"].contains(&name);
    let atomic = name.starts_with("__VERIFIER_atomic") && !section;
    name.starts_with("__VERIFIER") && !atomic
        || matches!(name, "assume_abort_if_not" | "reach_error")
}

/// The name of the function that an expression calls.
pub fn called(callee: &Node<Expression>) -> Option<&str> {
    match &callee.node {
        Expression::Identifier(name) => Some(&name.node.name),
        Expression::UnaryOperator(unary)
            if matches!(
                unary.node.operator.node,
                UnaryOperator::Indirection | UnaryOperator::Address
            ) =>
        {
            called(&unary.node.operand)
        }
        Expression::Cast(cast) => called(&cast.node.expression),
        _ => None,
    }
}

/// The parameters of a function.
pub fn signature(declarator: &Node<Declarator>) -> Option<&FunctionDeclarator> {
    let mut derived = declarator.node.derived.iter();
    let own = derived.find_map(|derived| match &derived.node {
        DerivedDeclarator::Function(function) => Some(&function.node),
        DerivedDeclarator::KRFunction(names) if names.is_empty() => Some(&WITHOUT_PARAMETERS),
        _ => None,
    });
    own.or_else(|| match &declarator.node.kind.node {
        DeclaratorKind::Declarator(inner) => signature(inner),
        _ => None,
    })
}

/// What `f()` declares.
static WITHOUT_PARAMETERS: FunctionDeclarator = FunctionDeclarator {
    parameters: Vec::new(),
    ellipsis: Ellipsis::None,
};

/// The variables that a body changes or whose address it takes.
fn changed_names(body: &Node<Statement>) -> HashSet<String> {
    struct Finder(HashSet<String>);
    impl Finder {
        fn note(&mut self, expr: &Node<Expression>) {
            match &expr.node {
                Expression::Identifier(name) => {
                    self.0.insert(name.node.name.clone());
                }
                Expression::Member(member)
                    if member.node.operator.node == MemberOperator::Direct =>
                {
                    self.note(&member.node.expression);
                }
                Expression::Cast(cast) => self.note(&cast.node.expression),
                _ => {}
            }
        }
    }
    impl<'ast> lang_c::visit::Visit<'ast> for Finder {
        fn visit_unary_operator_expression(
            &mut self,
            unary: &'ast UnaryOperatorExpression,
            at: &'ast Piece,
        ) {
            let changes = !matches!(
                unary.operator.node,
                UnaryOperator::Indirection
                    | UnaryOperator::Plus
                    | UnaryOperator::Minus
                    | UnaryOperator::Complement
                    | UnaryOperator::Negate
            );
            if changes {
                self.note(&unary.operand);
            }
            lang_c::visit::visit_unary_operator_expression(self, unary, at);
        }
        fn visit_binary_operator_expression(
            &mut self,
            operation: &'ast BinaryOperatorExpression,
            at: &'ast Piece,
        ) {
            let compares = matches!(
                operation.operator.node,
                BinaryOperator::Index
                    | BinaryOperator::Multiply
                    | BinaryOperator::Divide
                    | BinaryOperator::Modulo
                    | BinaryOperator::Plus
                    | BinaryOperator::Minus
                    | BinaryOperator::ShiftLeft
                    | BinaryOperator::ShiftRight
                    | BinaryOperator::Less
                    | BinaryOperator::Greater
                    | BinaryOperator::LessOrEqual
                    | BinaryOperator::GreaterOrEqual
                    | BinaryOperator::Equals
                    | BinaryOperator::NotEquals
                    | BinaryOperator::BitwiseAnd
                    | BinaryOperator::BitwiseXor
                    | BinaryOperator::BitwiseOr
                    | BinaryOperator::LogicalAnd
                    | BinaryOperator::LogicalOr
            );
            if !compares {
                self.note(&operation.lhs);
            }
            lang_c::visit::visit_binary_operator_expression(self, operation, at);
        }
    }
    let mut finder = Finder(HashSet::new());
    lang_c::visit::Visit::visit_statement(&mut finder, &body.node, &body.span);
    finder.0
}

/// Whether a body has a label that can be jumped to.
fn has_labels(body: &Node<Statement>) -> bool {
    struct Finder(bool);
    impl<'ast> lang_c::visit::Visit<'ast> for Finder {
        fn visit_label(&mut self, label: &'ast Label, _: &'ast Piece) {
            self.0 |= matches!(label, Label::Identifier(_));
        }
    }
    let mut finder = Finder(false);
    lang_c::visit::Visit::visit_statement(&mut finder, &body.node, &body.span);
    finder.0
}
