//! Expressions in Promela, whose arithmetic is that of C: where it would differ, the text
//! corrects it, says when the value is undefined, or is refused.
use crate::program::{BinaryOp, Domain, Expr, UnaryOp};

/// An expression as text.
#[derive(Debug, Clone)]
pub struct Piece {
    pub text: String,
    /// When it has a value; none if always.
    pub defined: Option<String>,
    /// All values it can have.
    pub low: i64,
    pub high: i64,
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
            low: domain.low.into(),
            high: domain.high.into(),
        }
    }

    /// The cell of an array that this is the index of.
    pub fn cell(self, len: u32, domain: Domain, text: impl Fn(&str) -> String) -> Piece {
        let outside = self.low < 0 || self.high >= i64::from(len);
        let bounds = outside.then(|| format!("(0 <= {0} && {0} < {len})", self.text));
        Piece {
            defined: both(self.defined.clone(), bounds),
            ..Piece::plain(text(&self.text), domain)
        }
    }

    /// When the value is defined and lies in a range; none if always.
    pub fn within(&self, domain: Domain) -> Option<String> {
        let (least, most) = (domain.low, domain.high);
        let low =
            (self.low < least.into()).then(|| format!("({} <= {})", number(least), self.text));
        let high =
            (self.high > most.into()).then(|| format!("({} <= {})", self.text, number(most)));
        both(self.defined.clone(), both(low, high))
    }
}

/// A number as C reads it: the least one has no literal.
pub fn number(value: i32) -> String {
    match value {
        i32::MIN => "(-2147483647 - 1)".to_string(),
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
                low: -operand.high,
                high: -operand.low,
            })
        }
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
                low: then.low.min(otherwise.low),
                high: then.high.max(otherwise.high),
            })
        }
    }
}

fn fitting(piece: Piece) -> Result<Piece, Refused> {
    let fits = |value: i64| i32::try_from(value).is_ok();
    match fits(piece.low) && fits(piece.high) {
        true => Ok(piece),
        false => Err(Refused::overflow()),
    }
}

fn joined(op: BinaryOp, left: Piece, right: Piece) -> Result<Piece, Refused> {
    let (a, b) = (&left.text, &right.text);
    let truth = |sign: &str| Piece {
        defined: both(left.defined.clone(), right.defined.clone()),
        ..Piece::plain(format!("({a} {sign} {b})"), Domain::BOOL)
    };
    let sum = |sign: &str, corners: &[i64]| {
        fitting(Piece {
            text: format!("({a} {sign} {b})"),
            defined: both(left.defined.clone(), right.defined.clone()),
            low: corners.iter().copied().min().unwrap_or(0),
            high: corners.iter().copied().max().unwrap_or(0),
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
        BinaryOp::Add => sum("+", &[left.low + right.low, left.high + right.high]),
        BinaryOp::Sub => sum("-", &[left.low - right.high, left.high - right.low]),
        BinaryOp::Mul => {
            let corners = [
                left.low * right.low,
                left.low * right.high,
                left.high * right.low,
                left.high * right.high,
            ];
            sum("*", &corners)
        }
        BinaryOp::Div | BinaryOp::Rem => divided(op, &left, &right),
        BinaryOp::Less => Ok(truth("<")),
        BinaryOp::LessEqual => Ok(truth("<=")),
        BinaryOp::Greater => Ok(truth(">")),
        BinaryOp::GreaterEqual => Ok(truth(">=")),
        BinaryOp::Equal => Ok(truth("==")),
        BinaryOp::NotEqual => Ok(truth("!=")),
        BinaryOp::And => Ok(lazily("==", "&&")),
        BinaryOp::Or => Ok(lazily("!=", "||")),
    }
}

/// Euclidean division: C rounds towards zero instead.
fn divided(op: BinaryOp, left: &Piece, right: &Piece) -> Result<Piece, Refused> {
    let (a, b) = (&left.text, &right.text);
    let zero = right.low <= 0 && right.high >= 0;
    let not_zero = zero.then(|| format!("({b} != 0)"));
    let most = left.low.abs().max(left.high.abs());
    let plain = left.low >= 0 && right.low >= 0;
    let rest = match plain {
        true => format!("({a} % {b})"),
        false => format!("(({a} % {b}) + (({a} % {b}) < 0 -> ({b} < 0 -> -{b} : {b}) : 0))"),
    };
    let (text, low, high) = match op {
        BinaryOp::Rem => {
            let divisor = right.low.abs().max(right.high.abs());
            (rest, 0, (divisor - 1).max(0))
        }
        _ if plain => (format!("({a} / {b})"), 0, most),
        _ => (format!("(({a} - {rest}) / {b})"), -most - 1, most + 1),
    };
    fitting(Piece {
        text,
        defined: both(both(left.defined.clone(), right.defined.clone()), not_zero),
        low,
        high,
    })
}
