//! Numbers and characters.

use super::lowering::{Lowering, Read};
use super::operand::Operand;
use super::types::{Number, Type};
use crate::program::{Expr, Value};
use lang_c::ast::*;
use lang_c::span::Node;

impl<'a> Lowering<'a> {
    pub fn literal(&mut self, constant: &'a Node<Constant>) -> Read<Operand> {
        match &constant.node {
            Constant::Integer(integer) => {
                let base = match integer.base {
                    IntegerBase::Decimal => 10,
                    IntegerBase::Octal => 8,
                    IntegerBase::Hexadecimal => 16,
                    IntegerBase::Binary => 2,
                };
                // The digits of an octal number may be given with their leading zero or not.
                let digits = match integer.number.as_ref() {
                    "" => "0",
                    digits => digits,
                };
                let Ok(value) = u64::from_str_radix(digits, base) else {
                    return self.error(constant.span, "this number does not fit 64 bits");
                };
                let long = integer.suffix.size != IntegerSize::Int;
                let unsigned = integer.suffix.unsigned;
                let decimal = integer.base == IntegerBase::Decimal;
                let candidates = [(32, true), (32, false), (64, true), (64, false)];
                let fits = |&(bits, signed): &(u32, bool)| {
                    let room = bits - u32::from(signed);
                    let within = room == 64 || value >> room == 0;
                    within
                        && (bits == 64 || !long)
                        && !(unsigned && signed)
                        && (signed || unsigned || !decimal || bits == 64)
                };
                let (bits, signed) = candidates.into_iter().find(fits).unwrap_or((64, false));
                let number = Number::new(bits, signed);
                Ok(Operand::scalar(
                    Type::Int(number),
                    Expr::Const(value as Value),
                ))
            }
            Constant::Character(text) => match character(text) {
                Some(value) => Ok(Operand::int(value)),
                None => self.error(constant.span, "this character is not read"),
            },
            Constant::Float(_) => self.refuse(
                constant.span,
                "floating-point numbers are not read",
                "use integers; scaled ones if need be",
            ),
        }
    }
}

/// The value of a character constant, quotes included.
fn character(text: &str) -> Option<Value> {
    let inside = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut chars = inside.chars();
    let value = match chars.next()? {
        '\\' => {
            let escape = chars.next()?;
            let rest: String = chars.by_ref().collect();
            // A char, which is signed, becomes an int.
            let number = |digits: &str, radix| {
                let value = u8::from_str_radix(digits, radix).ok()?;
                Some(Value::from(value as i8))
            };
            return match escape {
                'x' => number(&rest, 16),
                '0'..='7' => number(&format!("{escape}{rest}"), 8),
                _ if !rest.is_empty() => None,
                'n' => Some(10),
                't' => Some(9),
                'r' => Some(13),
                'a' => Some(7),
                'b' => Some(8),
                'f' => Some(12),
                'v' => Some(11),
                '\\' | '\'' | '"' | '?' => Some(escape as Value),
                _ => None,
            };
        }
        plain => plain as Value,
    };
    chars.next().is_none().then_some(value).filter(|v| *v < 128)
}
