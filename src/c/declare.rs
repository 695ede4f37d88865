//! Declarations: types, structures, enumerations and variables.

use super::lowering::{Entity, Lowering, Read, Scope, Storage, Variable};
use super::operand::Operand;
use super::types::{Number, Qualified, Type};
use crate::program::Expr;
use lang_c::ast::*;
use lang_c::span::{Node, Span as Piece};
use std::rc::Rc;

/// What the words before a declarator say.
pub struct Specified {
    pub ty: Qualified,
    pub storage: Option<StorageClassSpecifier>,
}

/// The words that name a type, counted.
#[derive(Default)]
struct Words {
    char: u32,
    short: u32,
    int: u32,
    long: u32,
    signed: u32,
    unsigned: u32,
    bool: u32,
    void: u32,
    other: Option<Qualified>,
    atomic: bool,
}

impl<'a> Lowering<'a> {
    /// The type and storage of a declaration.
    pub fn specified(
        &mut self,
        piece: Piece,
        specifiers: &'a [Node<DeclarationSpecifier>],
    ) -> Read<Specified> {
        let mut words = Words::default();
        let mut storage = None;
        let mut thread_local = false;
        for specifier in specifiers {
            match &specifier.node {
                DeclarationSpecifier::StorageClass(class) => match class.node {
                    StorageClassSpecifier::ThreadLocal => thread_local = true,
                    StorageClassSpecifier::Auto | StorageClassSpecifier::Register => {}
                    ref class => storage = Some(class.clone()),
                },
                DeclarationSpecifier::TypeSpecifier(ty) => self.type_word(ty, &mut words)?,
                DeclarationSpecifier::TypeQualifier(qualifier) => {
                    words.atomic |= qualifier.node == TypeQualifier::Atomic;
                }
                DeclarationSpecifier::Function(_)
                | DeclarationSpecifier::Alignment(_)
                | DeclarationSpecifier::Extension(_) => {}
            }
        }
        if thread_local && storage != Some(StorageClassSpecifier::Extern) {
            storage = Some(StorageClassSpecifier::ThreadLocal);
        }
        let ty = self.words_type(piece, words)?;
        Ok(Specified { ty, storage })
    }

    pub fn qualified_type(
        &mut self,
        piece: Piece,
        specifiers: &'a [Node<SpecifierQualifier>],
    ) -> Read<Qualified> {
        let mut words = Words::default();
        for specifier in specifiers {
            match &specifier.node {
                SpecifierQualifier::TypeSpecifier(ty) => self.type_word(ty, &mut words)?,
                SpecifierQualifier::TypeQualifier(qualifier) => {
                    words.atomic |= qualifier.node == TypeQualifier::Atomic;
                }
                SpecifierQualifier::Extension(_) => {}
            }
        }
        self.words_type(piece, words)
    }

    fn type_word(&mut self, word: &'a Node<TypeSpecifier>, words: &mut Words) -> Read<()> {
        let piece = word.span;
        match &word.node {
            TypeSpecifier::Void => words.void += 1,
            TypeSpecifier::Char => words.char += 1,
            TypeSpecifier::Short => words.short += 1,
            TypeSpecifier::Int => words.int += 1,
            TypeSpecifier::Long => words.long += 1,
            TypeSpecifier::Signed => words.signed += 1,
            TypeSpecifier::Unsigned => words.unsigned += 1,
            TypeSpecifier::Bool => words.bool += 1,
            TypeSpecifier::Atomic(inner) => {
                words.other = Some(self.type_name(inner)?);
                words.atomic = true;
            }
            TypeSpecifier::Struct(declared) => {
                let ty = Type::Struct(self.structure(declared)?);
                words.other = Some(ty.plain());
            }
            TypeSpecifier::Enum(declared) => match self.enumeration(declared)? {
                true => words.int += 1,
                false => words.unsigned += 1,
            },
            TypeSpecifier::TypedefName(name) => {
                let Some(Entity::Typedef(ty)) = self.lookup(&name.node.name) else {
                    let message = format!("unknown type '{}'", name.node.name);
                    return self.error(piece, message);
                };
                words.other = Some(ty.clone());
            }
            TypeSpecifier::TypeOf(of) => {
                words.other = Some(match &of.node {
                    TypeOf::Type(name) => self.type_name(name)?,
                    TypeOf::Expression(expr) => self.type_of(expr)?.plain(),
                });
            }
            TypeSpecifier::Float | TypeSpecifier::Double | TypeSpecifier::TS18661Float(_) => {
                return self.refuse(
                    piece,
                    "floating-point numbers are not read",
                    "use integers; scaled ones if need be",
                );
            }
            TypeSpecifier::Complex => {
                return self.error(piece, "complex numbers are not read");
            }
        }
        Ok(())
    }

    fn words_type(&self, piece: Piece, words: Words) -> Read<Qualified> {
        let signed = words.unsigned == 0;
        let ty = match &words {
            Words {
                other: Some(ty), ..
            } => {
                return Ok(Qualified {
                    ty: ty.ty.clone(),
                    atomic: ty.atomic || words.atomic,
                });
            }
            Words { void: 1.., .. } => Type::Void,
            Words { bool: 1.., .. } => Type::Int(Number::BOOL),
            // Without a word about its sign, `char` has one, as on the usual machines.
            Words { char: 1.., .. } => Type::Int(Number::new(8, signed)),
            Words { short: 1.., .. } => Type::Int(Number::new(16, signed)),
            Words { long: 1.., .. } => Type::Int(Number::new(64, signed)),
            Words {
                int,
                signed: s,
                unsigned,
                ..
            } if int + s + unsigned > 0 => Type::Int(Number::new(32, signed)),
            _ => return self.error(piece, "a type is missing here"),
        };
        Ok(Qualified {
            ty,
            atomic: words.atomic,
        })
    }

    /// A type on its own, as in a cast.
    pub fn type_name(&mut self, name: &'a Node<TypeName>) -> Read<Qualified> {
        let base = self.qualified_type(name.span, &name.node.specifiers)?;
        match &name.node.declarator {
            None => Ok(base),
            Some(declarator) => Ok(self.declarator(base, declarator)?.1),
        }
    }

    /// The name that a declarator declares and its type, given the type before it.
    pub fn declarator(
        &mut self,
        base: Qualified,
        declarator: &'a Node<Declarator>,
    ) -> Read<(Option<&'a Node<Identifier>>, Qualified)> {
        let mut ty = base;
        let derived = &declarator.node.derived;
        let is_pointer = |d: &&Node<DerivedDeclarator>| {
            matches!(
                d.node,
                DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_)
            )
        };
        for pointer in derived.iter().filter(is_pointer) {
            let mut atomic = false;
            if let DerivedDeclarator::Pointer(qualifiers) = &pointer.node {
                atomic = qualifiers.iter().any(|qualifier| {
                    matches!(&qualifier.node, PointerQualifier::TypeQualifier(q) if q.node == TypeQualifier::Atomic)
                });
            }
            ty = Qualified {
                ty: Type::pointer(ty),
                atomic,
            };
        }
        for part in derived.iter().rev().filter(|d| !is_pointer(d)) {
            ty = match &part.node {
                DerivedDeclarator::Array(array) => {
                    let len = self.array_length(part.span, &array.node.size)?;
                    Type::Array(Rc::new(ty), len).plain()
                }
                _ => Type::Function.plain(),
            };
        }
        match &declarator.node.kind.node {
            DeclaratorKind::Abstract => Ok((None, ty)),
            DeclaratorKind::Identifier(name) => Ok((Some(name), ty)),
            DeclaratorKind::Declarator(inner) => self.declarator(ty, inner),
        }
    }

    /// The length of an array; one that is not given is 0 for now.
    fn array_length(&mut self, piece: Piece, size: &'a ArraySize) -> Read<u32> {
        match size {
            ArraySize::Unknown => Ok(0),
            ArraySize::VariableUnknown => self.error(piece, "the length of the array is missing"),
            ArraySize::VariableExpression(size) | ArraySize::StaticExpression(size) => {
                let Some(value) = self.constant_or_none(size)? else {
                    return self.refuse(
                        size.span,
                        "the length of an array must be constant",
                        "arrays of variable length are not read",
                    );
                };
                match u32::try_from(value) {
                    Ok(len) if len <= self.options.max_scalars => Ok(len),
                    _ => self.error(size.span, format!("an array of {value} elements")),
                }
            }
        }
    }

    /// A declaration of the file or of a block.
    pub fn declaration(&mut self, declaration: &'a Node<Declaration>) -> Read<()> {
        let node = &declaration.node;
        let specified = self.specified(declaration.span, &node.specifiers)?;
        for declared in &node.declarators {
            let (name, mut ty) =
                self.declarator(specified.ty.clone(), &declared.node.declarator)?;
            let Some(name) = name else { continue };
            let initializer = declared.node.initializer.as_ref();
            if let (Type::Array(element, 0), Some(initializer)) = (&ty.ty, initializer) {
                let len = self.initializer_length(initializer)?;
                ty.ty = Type::Array(element.clone(), len);
            }
            if specified.storage == Some(StorageClassSpecifier::Typedef) {
                if let Type::Struct(id) = ty.ty
                    && self.structs.get(id).name == "struct"
                {
                    self.structs.0[id.0].name = name.node.name.clone();
                }
                self.define(&name.node.name, Entity::Typedef(ty));
                continue;
            }
            if ty.ty == Type::Function {
                self.define(&name.node.name, Entity::Function);
                continue;
            }
            self.variable_declaration(name, ty, specified.storage.clone(), initializer)?;
        }
        Ok(())
    }

    fn variable_declaration(
        &mut self,
        name: &'a Node<Identifier>,
        ty: Qualified,
        class: Option<StorageClassSpecifier>,
        initializer: Option<&'a Node<Initializer>>,
    ) -> Read<()> {
        let text = &name.node.name;
        if let (Type::Struct(_), true) = (&ty.ty, ty.atomic) {
            return self.refuse(
                name.span,
                "atomic structures are not read",
                "pack the fields into one integer",
            );
        }
        let in_file = self.scopes.len() == 1;
        if ty.ty == Type::Void {
            return self.error(name.span, format!("'{text}' has no type"));
        }
        let thread_local = class == Some(StorageClassSpecifier::ThreadLocal);
        let lasting = in_file
            || matches!(
                class,
                Some(StorageClassSpecifier::Static | StorageClassSpecifier::Extern)
            );
        if thread_local {
            // Each process has its own, which is made when it is first met.
            let storage = match self.thread_locals.get(&name.span.start) {
                Some(storage) => storage.clone(),
                None => {
                    let storage = self.automatic(name.span, text, &ty)?;
                    self.thread_locals.insert(name.span.start, storage.clone());
                    let variable = Variable {
                        ty: ty.clone(),
                        storage: storage.clone(),
                    };
                    if let Some(initializer) = initializer {
                        let object = self.variable(&variable);
                        self.static_initializer(&object, initializer)?;
                    }
                    storage
                }
            };
            self.define(text, Entity::Variable(Variable { ty, storage }));
            return Ok(());
        }
        if lasting {
            let known = self.scopes[0].names.get(text).cloned();
            let again = match known {
                Some(Entity::Variable(variable))
                    if in_file || class == Some(StorageClassSpecifier::Extern) =>
                {
                    Some(variable.storage)
                }
                _ => self
                    .statics
                    .get(&name.span.start)
                    .map(|id| Storage::Memory(*id)),
            };
            let fresh = again.is_none();
            let storage = match again {
                Some(storage) => storage,
                None => {
                    self.places(name.span, &ty.ty)?;
                    let id = self.objects.add(text.clone(), ty.clone(), &self.structs);
                    self.statics.insert(name.span.start, id);
                    Storage::Memory(id)
                }
            };
            let variable = Variable { ty, storage };
            self.define(text, Entity::Variable(variable.clone()));
            if let Some(initializer) = initializer
                && (fresh || in_file)
            {
                let object = self.variable(&variable);
                self.static_initializer(&object, initializer)?;
            }
            return Ok(());
        }
        let keeps = !self.frame().changed.contains(text);
        if let Some(value) = initializer
            && let Initializer::Expression(value) = &value.node
            && ty.ty.is_scalar()
            && keeps
        {
            // The variable is in scope already: `p = malloc(sizeof *p)`.
            let nothing = Operand::scalar(ty.ty.clone(), Expr::Const(0));
            let storage = Storage::Value(nothing);
            let ty_now = ty.clone();
            self.define(
                text,
                Entity::Variable(Variable {
                    ty: ty_now,
                    storage,
                }),
            );
            let value = self.initial_value(&ty.ty, value)?;
            let value = self.converted(value, &ty.ty, name.span)?;
            let at = Piece {
                start: name.span.start,
                end: initializer.map_or(name.span.end, |i| i.span.end),
            };
            let storage = self.parameter(name, &ty, value, true, at)?;
            self.define(text, Entity::Variable(Variable { ty, storage }));
            return Ok(());
        }
        let storage = self.automatic(name.span, text, &ty)?;
        let variable = Variable { ty, storage };
        self.define(text, Entity::Variable(variable.clone()));
        if let Some(initializer) = initializer {
            let object = self.variable(&variable);
            self.automatic_initializer(&object, initializer, name.span)?;
        }
        Ok(())
    }

    /// The file scope, which all functions see.
    pub fn file(&mut self, unit: &'a TranslationUnit) -> Read<()> {
        self.scopes.push(Scope::default());
        for item in &unit.0 {
            match &item.node {
                ExternalDeclaration::Declaration(declaration) => {
                    let mut specifiers = declaration.node.specifiers.iter();
                    let own = specifiers.any(|specifier| {
                        matches!(&specifier.node, DeclarationSpecifier::StorageClass(class)
                            if class.node == StorageClassSpecifier::ThreadLocal)
                    });
                    match own {
                        true => self.per_thread.push(declaration),
                        false => self.declaration(declaration)?,
                    }
                }
                ExternalDeclaration::StaticAssert(_) => {}
                ExternalDeclaration::FunctionDefinition(function) => {
                    let node = &function.node;
                    self.specified(function.span, &node.specifiers)?;
                    let name = self.function_name(&node.declarator);
                    let Some(name) = name else {
                        return self.error(function.span, "this function has no name");
                    };
                    self.define(name, Entity::Function);
                    self.functions.insert(name.to_string(), function);
                }
            }
        }
        Ok(())
    }

    fn function_name(&self, declarator: &'a Node<Declarator>) -> Option<&'a str> {
        match &declarator.node.kind.node {
            DeclaratorKind::Identifier(name) => Some(&name.node.name),
            DeclaratorKind::Declarator(inner) => self.function_name(inner),
            DeclaratorKind::Abstract => None,
        }
    }
}
