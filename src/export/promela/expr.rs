//! Expressions in Promela, whose arithmetic is that of C: where it would differ, the text
//! corrects it, says when the value is undefined, or is refused.

use crate::program::{BinaryOp, Domain, Expr, Interval, UnaryOp, Value};

/// An expression as text.
#[derive(Debug, Clone)]
pub struct Piece {
    pub text: String,
    /// When it has a value; none if always.
    pub defined: Option<String>,
    /// All values it can have.
    pub values: Interval,
}

/// Why something cannot be said.
#[derive(Debug, Clone)]
pub struct Refused {
    pub message: String,
    pub help: String,
}

impl Refused {
    pub fn choices(domain: Domain) -> Refused {
        Refused {
            message: format!("a choice from {} values", domain.size()),
            help: "choose from at most 256".to_string(),
        }
    }

    /// Operations and pointers of C.
    pub fn machine() -> Refused {
        Refused {
            message: "pointers and the integers of C have no counterpart here".to_string(),
            help: "write the program in the input language".to_string(),
        }
    }

    /// Integers without bound.
    pub fn unbounded() -> Refused {
        Refused {
            message: "it has integers without bound".to_string(),
            help: "give the variables ranges: `int[low..=high]`".to_string(),
        }
    }

    fn overflow() -> Refused {
        Refused {
            message: "a result may leave 32 bits, which Spin would not notice".to_string(),
            help: "give the variables ranges: `int[low..=high]`".to_string(),
        }
    }
}

impl Piece {
    pub fn plain(text: String, domain: Domain) -> Piece {
        Piece {
            text,
            defined: None,
            values: domain.into(),
        }
    }

    /// The cell of an array that this is the index of.
    pub fn cell(self, len: u32, domain: Domain, text: impl Fn(&str) -> String) -> Piece {
        let outside = self.values.low < 0 || self.values.high >= len.into();
        let bounds = outside.then(|| format!("(0 <= {0} && {0} < {len})", self.text));
        Piece {
            defined: both(self.defined.clone(), bounds),
            ..Piece::plain(text(&self.text), domain)
        }
    }

    /// When the value is defined and lies in a range; none if always.
    pub fn within(&self, domain: Domain) -> Option<String> {
        let (least, most) = (domain.low, domain.high);
        let below = self.values.low < least.into();
        let above = self.values.high > most.into();
        let low = below.then(|| format!("({} <= {})", number(least), self.text));
        let high = above.then(|| format!("({} <= {})", self.text, number(most)));
        both(self.defined.clone(), both(low, high))
    }
}

/// A number as C reads it: the least one has no literal.
pub fn number(value: Value) -> String {
    match value {
        -2_147_483_648 => "(-2147483647 - 1)".to_string(),
        0.. => value.to_string(),
        _ => format!("({value})"),
    }
}

/// Two conditions, the second of which matters only if the first holds.
pub fn both(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("({first} && {second})")),
        (first, second) => first.or(second),
    }
}

/// The text of an expression; `leaf` gives that of its atoms.
pub fn piece<A>(
    expr: &Expr<A>,
    leaf: &dyn Fn(&A) -> Result<Piece, Refused>,
) -> Result<Piece, Refused> {
    match expr {
        Expr::Const(value) => {
            let (low, high) = (*value, *value);
            Ok(Piece::plain(number(*value), Domain { low, high }))
        }
        Expr::Atom(atom) => leaf(atom),
        Expr::Unary(UnaryOp::Not, operand) => {
            let operand = piece(operand, leaf)?;
            Ok(Piece {
                defined: operand.defined,
                ..Piece::plain(format!("({} == 0)", operand.text), Domain::BOOL)
            })
        }
        Expr::Unary(UnaryOp::Negate, operand) => {
            let operand = piece(operand, leaf)?;
            fitting(Piece {
                text: format!("(-{})", operand.text),
                defined: operand.defined,
                values: Interval::unary(UnaryOp::Negate, operand.values),
            })
        }
        Expr::Unary(UnaryOp::NegateInteger, _) => Err(Refused::unbounded()),
        Expr::Unary(UnaryOp::Complement, operand) => {
            let operand = piece(operand, leaf)?;
            Ok(Piece {
                text: format!("(~{})", operand.text),
                values: Interval::unary(UnaryOp::Complement, operand.values),
                ..operand
            })
        }
        Expr::Unary(UnaryOp::Convert(_), _) => Err(Refused::machine()),
        Expr::Binary(op, left, right) => joined(*op, piece(left, leaf)?, piece(right, leaf)?),
        Expr::Conditional(condition, then, otherwise) => {
            let (condition, then) = (piece(condition, leaf)?, piece(then, leaf)?);
            let otherwise = piece(otherwise, leaf)?;
            let branches = match (then.defined, otherwise.defined) {
                (None, None) => None,
                (yes, no) => {
                    let always = || "true".to_string();
                    let (yes, no) = (yes.unwrap_or_else(always), no.unwrap_or_else(always));
                    Some(format!("({} != 0 -> {yes} : {no})", condition.text))
                }
            };
            Ok(Piece {
                text: format!(
                    "({} != 0 -> {} : {})",
                    condition.text, then.text, otherwise.text
                ),
                defined: both(condition.defined, branches),
                values: then.values.join(otherwise.values),
            })
        }
    }
}

fn fitting(piece: Piece) -> Result<Piece, Refused> {
    match piece.values.domain() {
        Some(_) => Ok(piece),
        None => Err(Refused::overflow()),
    }
}

fn joined(op: BinaryOp, left: Piece, right: Piece) -> Result<Piece, Refused> {
    let (a, b) = (&left.text, &right.text);
    let truth = |sign: &str| Piece {
        defined: both(left.defined.clone(), right.defined.clone()),
        ..Piece::plain(format!("({a} {sign} {b})"), Domain::BOOL)
    };
    let number = |sign: &str| {
        fitting(Piece {
            values: Interval::binary(op, left.values, right.values),
            ..truth(sign)
        })
    };
    let lazily = |skip: &str, sign: &str| {
        let later = right
            .defined
            .as_ref()
            .map(|right| format!("({a} {skip} 0 || {right})"));
        Piece {
            defined: both(left.defined.clone(), later),
            ..Piece::plain(format!("({a} {sign} {b})"), Domain::BOOL)
        }
    };
    match op {
        BinaryOp::Add => number("+"),
        BinaryOp::Sub => number("-"),
        BinaryOp::Mul => number("*"),
        BinaryOp::Div | BinaryOp::Rem => divided(op, &left, &right),
        BinaryOp::Less => Ok(truth("<")),
        BinaryOp::LessEqual => Ok(truth("<=")),
        BinaryOp::Greater => Ok(truth(">")),
        BinaryOp::GreaterEqual => Ok(truth(">=")),
        BinaryOp::Equal => Ok(truth("==")),
        BinaryOp::NotEqual => Ok(truth("!=")),
        BinaryOp::BitAnd => number("&"),
        BinaryOp::BitOr => number("|"),
        BinaryOp::BitXor => number("^"),
        BinaryOp::Shl | BinaryOp::Shr => {
            let shifted = number(if op == BinaryOp::Shl { "<<" } else { ">>" })?;
            let possible = format!("({b} >= 0 && {b} < 32)");
            Ok(Piece {
                defined: both(shifted.defined, Some(possible)),
                ..shifted
            })
        }
        BinaryOp::And => Ok(lazily("==", "&&")),
        BinaryOp::Or => Ok(lazily("!=", "||")),
        BinaryOp::AddIntegers | BinaryOp::SubIntegers => Err(Refused::unbounded()),
        BinaryOp::Machine(..) => Err(Refused::machine()),
    }
}

/// Euclidean division: C rounds towards zero instead.
fn divided(op: BinaryOp, left: &Piece, right: &Piece) -> Result<Piece, Refused> {
    let (a, b) = (&left.text, &right.text);
    let not_zero = right.values.contains(0).then(|| format!("({b} != 0)"));
    let plain = left.values.low >= 0 && right.values.low >= 0;
    let remainder = match plain {
        true => format!("({a} % {b})"),
        false => format!("(({a} % {b}) + (({a} % {b}) < 0 -> ({b} < 0 -> -{b} : {b}) : 0))"),
    };
    let text = match op {
        BinaryOp::Rem => remainder,
        _ if plain => format!("({a} / {b})"),
        _ => {
            // What is divided is a multiple of the divisor and must fit, too.
            let taken = Interval::binary(BinaryOp::Rem, left.values, right.values);
            let multiple = Interval::binary(BinaryOp::Sub, left.values, taken);
            multiple.domain().ok_or_else(Refused::overflow)?;
            format!("(({a} - {remainder}) / {b})")
        }
    };
    fitting(Piece {
        text,
        defined: both(both(left.defined.clone(), right.defined.clone()), not_zero),
        values: Interval::binary(op, left.values, right.values),
    })
}
