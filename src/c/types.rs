//! The types of C, as far as they are read: integers, pointers, arrays and structures.

use crate::program::{Domain, Int};
use std::rc::Rc;

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Void,
    Int(Number),
    Pointer(Rc<Qualified>),
    Array(Rc<Qualified>, u32),
    Struct(StructId),
    /// A function; what it takes and gives is known from its definition.
    Function,
}

/// A type, and whether accesses are atomic.
#[derive(Debug, Clone, PartialEq)]
pub struct Qualified {
    pub ty: Type,
    pub atomic: bool,
}

/// An integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    pub int: Int,
    /// `_Bool`: what is not 0 becomes 1.
    pub boolean: bool,
}

/// A structure, by its position in [`Structs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub usize);

/// A structure type.
#[derive(Debug, Clone)]
pub struct Struct {
    /// Its tag, or the name of the type that it was declared for.
    pub name: String,
    /// `None` as long as only its name is known.
    pub fields: Option<Vec<Field>>,
}

#[derive(Debug, Clone)]
pub struct Field {
    /// `None` for a structure whose fields count as those of the one around it.
    pub name: Option<String>,
    pub ty: Qualified,
    /// The number of scalars before it.
    pub offset: u32,
}

/// All structures of a program.
#[derive(Debug, Default)]
pub struct Structs(pub Vec<Struct>);

/// A scalar inside an object.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// How it is reached from the object: `.next[1]`.
    pub path: String,
    pub ty: Qualified,
}

impl Number {
    pub const BOOL: Number = Number {
        int: Int {
            bits: 8,
            signed: false,
        },
        boolean: true,
    };
    pub const INT: Number = Number::new(32, true);
    pub const LONG: Number = Number::new(64, true);
    pub const UNSIGNED_LONG: Number = Number::new(64, false);

    pub const fn new(bits: u32, signed: bool) -> Number {
        Number {
            int: Int { bits, signed },
            boolean: false,
        }
    }

    pub fn domain(self) -> Domain {
        match self.boolean {
            true => Domain::BOOL,
            false => self.int.domain(),
        }
    }

    /// The type in which a value of this type is calculated with.
    pub fn promoted(self) -> Number {
        match self.int.bits < 32 {
            true => Number::INT,
            false => self,
        }
    }

    /// The type in which values of two types are calculated with together.
    pub fn common(self, other: Number) -> Number {
        let (one, other) = (self.promoted(), other.promoted());
        let bits = one.int.bits.max(other.int.bits);
        // The wider one decides; of two with the same width, the one without a sign.
        let widest = [one, other].into_iter().filter(|n| n.int.bits == bits);
        Number::new(bits, widest.into_iter().all(|n| n.int.signed))
    }
}

impl Type {
    pub const INT: Type = Type::Int(Number::INT);
    pub const UNSIGNED_LONG: Type = Type::Int(Number::UNSIGNED_LONG);

    pub fn pointer(to: Qualified) -> Type {
        Type::Pointer(Rc::new(to))
    }

    pub fn is_scalar(&self) -> bool {
        matches!(self, Type::Int(_) | Type::Pointer(_))
    }

    /// How values of a scalar type are calculated with; a pointer is a number without a sign.
    pub fn number(&self) -> Option<Number> {
        match self {
            Type::Int(number) => Some(*number),
            Type::Pointer(_) | Type::Function => Some(Number::UNSIGNED_LONG),
            _ => None,
        }
    }

    pub fn plain(self) -> Qualified {
        Qualified {
            ty: self,
            atomic: false,
        }
    }
}

impl Structs {
    pub fn get(&self, id: StructId) -> &Struct {
        &self.0[id.0]
    }

    /// The number of scalars; `None` if the type is not complete.
    pub fn places(&self, ty: &Type) -> Option<u32> {
        match ty {
            Type::Void | Type::Function => None,
            Type::Int(_) | Type::Pointer(_) => Some(1),
            Type::Array(element, len) => self.places(&element.ty)?.checked_mul(*len),
            Type::Struct(id) => {
                let fields = self.get(*id).fields.as_ref()?;
                let places = fields.iter().map(|field| self.places(&field.ty.ty));
                places.sum()
            }
        }
    }

    /// The size in bytes, and what addresses are multiples of, on a machine of 64 bits.
    pub fn layout(&self, ty: &Type) -> Option<(u64, u64)> {
        match ty {
            // As GNU C has it.
            Type::Void | Type::Function => Some((1, 1)),
            Type::Int(number) => {
                let bytes = u64::from(number.int.bits / 8);
                Some((bytes, bytes))
            }
            Type::Pointer(_) => Some((8, 8)),
            Type::Array(element, len) => {
                let (size, align) = self.layout(&element.ty)?;
                Some((size.checked_mul((*len).into())?, align))
            }
            Type::Struct(id) => {
                let (mut end, mut align) = (0u64, 1);
                for field in self.get(*id).fields.as_ref()? {
                    let (size, own) = self.layout(&field.ty.ty)?;
                    end = end.next_multiple_of(own).checked_add(size)?;
                    align = align.max(own);
                }
                Some((end.next_multiple_of(align), align))
            }
        }
    }

    /// The scalars inside an object of a type, in order.
    pub fn leaves(&self, ty: &Qualified) -> Vec<Leaf> {
        let mut all = Vec::new();
        self.collect(ty, String::new(), &mut all);
        all
    }

    fn collect(&self, ty: &Qualified, path: String, all: &mut Vec<Leaf>) {
        match &ty.ty {
            Type::Array(element, len) => {
                let element = Qualified {
                    ty: element.ty.clone(),
                    atomic: element.atomic || ty.atomic,
                };
                for index in 0..*len {
                    self.collect(&element, format!("{path}[{index}]"), all);
                }
            }
            Type::Struct(id) => {
                for field in self.get(*id).fields.iter().flatten() {
                    let name = field.name.as_ref();
                    let path = match name {
                        Some(name) => format!("{path}.{name}"),
                        None => path.clone(),
                    };
                    self.collect(&field.ty, path, all);
                }
            }
            _ => all.push(Leaf {
                path,
                ty: ty.clone(),
            }),
        }
    }

    /// A field and the number of scalars before it, looked for in nameless structures as well.
    pub fn field(&self, id: StructId, name: &str) -> Option<(u32, Qualified)> {
        let fields = self.get(id).fields.as_ref()?;
        fields
            .iter()
            .find_map(|field| match (&field.name, &field.ty.ty) {
                (Some(own), _) => (own == name).then(|| (field.offset, field.ty.clone())),
                (None, Type::Struct(inner)) => {
                    let (offset, ty) = self.field(*inner, name)?;
                    Some((field.offset + offset, ty))
                }
                (None, _) => None,
            })
    }

    /// Calls `visit` on every object inside one of a type, itself included, with the number of
    /// scalars before it.
    pub fn inside(&self, ty: &Type, offset: u32, visit: &mut dyn FnMut(&Type, u32)) {
        visit(ty, offset);
        match ty {
            Type::Array(element, len) => {
                let places = self.places(&element.ty).unwrap_or(0);
                for index in 0..*len {
                    self.inside(&element.ty, offset + index * places, visit);
                }
            }
            Type::Struct(id) => {
                for field in self.get(*id).fields.iter().flatten() {
                    self.inside(&field.ty.ty, offset + field.offset, visit);
                }
            }
            _ => {}
        }
    }

    /// The type as a person writes it.
    pub fn name(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".to_string(),
            Type::Int(number) if number.boolean => "bool".to_string(),
            Type::Int(number) => {
                let name = match number.int.bits {
                    8 => "char",
                    16 => "short",
                    32 => "int",
                    _ => "long",
                };
                match number.int.signed {
                    true => name.to_string(),
                    false => format!("unsigned {name}"),
                }
            }
            Type::Pointer(to) => format!("{} *", self.name(&to.ty)),
            Type::Array(element, len) => format!("{}[{len}]", self.name(&element.ty)),
            Type::Struct(id) => format!("struct {}", self.get(*id).name),
            Type::Function => "function".to_string(),
        }
    }
}
