//! Structures and enumerations.

use super::lowering::{Entity, Lowering, Read, Tag};
use super::operand::Operand;
use super::types::{Field, Struct, StructId, Type};
use lang_c::ast::*;
use lang_c::span::Node;

impl<'a> Lowering<'a> {
    pub fn structure(&mut self, declared: &'a Node<StructType>) -> Read<StructId> {
        let node = &declared.node;
        if node.kind.node == StructKind::Union {
            return self.refuse(
                declared.span,
                "unions are not read",
                "use a structure with a field for each member",
            );
        }
        let tag = node.identifier.as_ref().map(|tag| tag.node.name.as_str());
        let Some(fields) = &node.declarations else {
            let Some(tag) = tag else {
                return self.refuse(
                    declared.span,
                    "this structure is not read",
                    "write attributes behind the fields",
                );
            };
            let known = self
                .scopes
                .iter()
                .rev()
                .find_map(|scope| scope.tags.get(tag));
            return Ok(match known {
                Some(Tag::Struct(id)) => *id,
                _ => self.new_struct(tag, declared.span.start),
            });
        };
        let here = self.scopes.last().and_then(|scope| scope.tags.get(tag?));
        let id = match (here, self.declared.get(&declared.span.start)) {
            (Some(Tag::Struct(id)), _) | (_, Some(id)) => *id,
            _ => self.new_struct(tag.unwrap_or("struct"), declared.span.start),
        };
        self.declared.insert(declared.span.start, id);
        if let Some(tag) = tag {
            let scope = self.scopes.last_mut().expect("there is a scope");
            scope.tags.insert(tag.to_string(), Tag::Struct(id));
        }
        let mut all = Vec::new();
        let mut offset = 0;
        for declaration in fields {
            let StructDeclaration::Field(field) = &declaration.node else {
                continue;
            };
            let base = self.qualified_type(field.span, &field.node.specifiers)?;
            if field.node.declarators.is_empty() && matches!(base.ty, Type::Struct(_)) {
                let places = self.places(field.span, &base.ty)?;
                all.push(Field {
                    name: None,
                    ty: base.clone(),
                    offset,
                });
                offset += places;
            }
            for declarator in &field.node.declarators {
                if declarator.node.bit_width.is_some() {
                    return self.refuse(
                        declarator.span,
                        "bit fields are not read",
                        "use a field of an integer type, and masks",
                    );
                }
                let Some(named) = &declarator.node.declarator else {
                    continue;
                };
                let (name, ty) = self.declarator(base.clone(), named)?;
                let places = match ty.ty {
                    Type::Function => return self.error(named.span, "a function in a structure"),
                    // A flexible array at the end has no elements.
                    _ => self.places(named.span, &ty.ty)?,
                };
                all.push(Field {
                    name: name.map(|name| name.node.name.clone()),
                    ty,
                    offset,
                });
                offset += places;
            }
        }
        self.structs.0[id.0].fields = Some(all);
        Ok(id)
    }

    fn new_struct(&mut self, name: &str, at: usize) -> StructId {
        let id = StructId(self.structs.0.len());
        self.structs.0.push(Struct {
            name: name.to_string(),
            fields: None,
        });
        self.declared.insert(at, id);
        let scope = self.scopes.last_mut().expect("there is a scope");
        if name != "struct" {
            scope.tags.insert(name.to_string(), Tag::Struct(id));
        }
        id
    }

    /// Whether a value of the enumeration is negative: then its type is `int`, and `unsigned`
    /// otherwise, as compilers have it.
    pub fn enumeration(&mut self, declared: &'a Node<EnumType>) -> Read<bool> {
        let tag = declared.node.identifier.as_ref();
        if let (Some(tag), true) = (tag, declared.node.enumerators.is_empty()) {
            let mut scopes = self.scopes.iter().rev();
            let known = scopes.find_map(|scope| scope.tags.get(&tag.node.name));
            return Ok(matches!(known, Some(Tag::Enum(true))));
        }
        let (mut next, mut negative) = (0, false);
        for enumerator in &declared.node.enumerators {
            if let Some(value) = &enumerator.node.expression {
                next = self.constant(value)?;
            }
            let name = &enumerator.node.identifier.node.name;
            if i32::try_from(next).is_err() {
                let message = format!("the value of '{name}' is not one of int");
                return self.error(enumerator.span, message);
            }
            self.define(name, Entity::Constant(Operand::int(next)));
            negative |= next < 0;
            next += 1;
        }
        if let Some(tag) = tag {
            let scope = self.scopes.last_mut().expect("there is a scope");
            scope
                .tags
                .insert(tag.node.name.clone(), Tag::Enum(negative));
        }
        Ok(negative)
    }
}
