//! Tokens to the syntax tree of a machine.

use super::tree::{How, Kind, Location, Machine, Owner, Process, Statement, Tuple, Variable};
use crate::import::build;
use crate::import::scan::{Cursor, Read, TokenKind, hinted};
use crate::lang::ast::{Expr, ExprKind};
use crate::program::{BinaryOp, Domain, FenceKind, UnaryOp};

/// Words with a meaning of their own; anything else before a colon is a label.
pub const RESERVED: [&str; 34] = [
    "forbidden",
    "predicates",
    "data",
    "process",
    "registers",
    "text",
    "nop",
    "read",
    "write",
    "locked",
    "slocked",
    "cas",
    "fence",
    "ssfence",
    "llfence",
    "sffence",
    "syncwr",
    "syncrd",
    "assume",
    "if",
    "then",
    "else",
    "while",
    "do",
    "goto",
    "either",
    "or",
    "my",
    "not",
    "true",
    "false",
    "macro",
    "endmacro",
    "Z",
];

pub fn machine(cursor: &mut Cursor) -> Read<Machine> {
    cursor.expect("forbidden")?;
    let mut forbidden = Vec::new();
    loop {
        forbidden.push(tuple(cursor)?);
        if !cursor.eat(";") {
            break;
        }
    }
    if cursor.eat("predicates") {
        while !cursor.at_end() && !cursor.at("data") && !cursor.at("process") {
            cursor.bump();
        }
    }
    let globals = match cursor.eat("data") {
        true => variables(cursor, false)?,
        false => Vec::new(),
    };
    let mut processes = Vec::new();
    while !cursor.at_end() {
        processes.push(process(cursor)?);
    }
    if processes.is_empty() {
        return Err(cursor.expected("`process`"));
    }
    Ok(Machine {
        forbidden,
        globals,
        processes,
    })
}

fn tuple(cursor: &mut Cursor) -> Read<Tuple> {
    let first = cursor.token().span;
    let mut labels = Vec::new();
    loop {
        let token = cursor.token();
        if cursor.eat("*") {
            labels.push(None);
        } else if cursor.at_word() && !RESERVED.contains(&token.text) {
            labels.push(Some((token.text.to_string(), token.span)));
            cursor.bump();
        } else if labels.is_empty() {
            return Err(cursor.expected("a label or `*`"));
        } else {
            let span = cursor.since(first);
            return Ok(Tuple { labels, span });
        }
    }
}

/// Declarations without anything between them.
fn variables(cursor: &mut Cursor, registers: bool) -> Read<Vec<Variable>> {
    let mut variables: Vec<Variable> = Vec::new();
    while match registers {
        true => cursor.at("$"),
        false => cursor.at_word() && !RESERVED.contains(&cursor.token().text),
    } {
        let first = cursor.token().span;
        cursor.eat("$");
        let name = cursor.word("a name")?.text.to_string();
        let span = cursor.since(first);
        if variables.iter().any(|other| other.name == name) {
            let message = format!("'{name}' is declared twice");
            return Err(crate::import::scan::wrong(span, message));
        }
        cursor.expect("=")?;
        let initial = match cursor.eat("*") {
            true => None,
            false => Some(cursor.int("an initial value: a number or `*`")?),
        };
        let domain = match cursor.eat(":") {
            true => domain(cursor)?,
            false => Domain::INT,
        };
        let whole = cursor.since(first);
        if let Some(value) = initial
            && !domain.contains(value)
        {
            let message = format!("'{name}' starts outside its domain {domain}");
            return Err(crate::import::scan::wrong(whole, message));
        }
        variables.push(Variable {
            name,
            span,
            initial,
            domain,
        });
    }
    match variables.is_empty() {
        true if registers => Err(cursor.expected("a register such as `$r = 0`")),
        true => Err(cursor.expected("a variable such as `x = 0`")),
        false => Ok(variables),
    }
}

/// `[low:high]` or `Z`.
fn domain(cursor: &mut Cursor) -> Read<Domain> {
    if cursor.eat("Z") {
        return Ok(Domain::INT);
    }
    let first = cursor.expect("[")?;
    let low = cursor.int("a number")?;
    cursor.expect(":")?;
    let high = cursor.int("a number")?;
    cursor.expect("]")?;
    if low > high {
        let message = format!("the domain [{low}:{high}] is empty");
        return Err(crate::import::scan::wrong(cursor.since(first), message));
    }
    Ok(Domain { low, high })
}

fn process(cursor: &mut Cursor) -> Read<Process> {
    let first = cursor.expect("process")?;
    let mut copies = 1;
    if cursor.eat("(") {
        let count = cursor.int("a number of copies")?;
        cursor.expect(")")?;
        match u32::try_from(count) {
            Ok(count @ 1..=64) => copies = count,
            _ => {
                let message = format!("{count} copies of a process");
                return Err(hinted(cursor.since(first), message, "there are 1 to 64"));
            }
        }
    }
    let span = cursor.since(first);
    let (mut data, mut registers) = (None, None);
    loop {
        if cursor.at("data") && data.is_none() {
            cursor.bump();
            data = Some(variables(cursor, false)?);
        } else if cursor.at("registers") && registers.is_none() {
            cursor.bump();
            registers = Some(variables(cursor, true)?);
        } else {
            break;
        }
    }
    cursor.expect("text")?;
    Ok(Process {
        copies,
        data: data.unwrap_or_default(),
        registers: registers.unwrap_or_default(),
        body: sequence(cursor)?,
        span,
    })
}

/// Statements with `;` between them; one more at the end does no harm.
fn sequence(cursor: &mut Cursor) -> Read<Vec<Statement>> {
    let mut statements = vec![labelled(cursor)?];
    while cursor.eat(";") {
        if cursor.at_end() || cursor.at("}") || cursor.at("or") || cursor.at("process") {
            break;
        }
        statements.push(labelled(cursor)?);
    }
    Ok(statements)
}

fn labelled(cursor: &mut Cursor) -> Read<Statement> {
    let token = cursor.token();
    let mut label = None;
    if cursor.at_word() && !RESERVED.contains(&token.text) && cursor.peek(1).text == ":" {
        cursor.bump();
        cursor.bump();
        label = Some((token.text.to_string(), token.span));
    }
    let first = cursor.token().span;
    let kind = cursor.nested(statement)?;
    Ok(Statement {
        label,
        kind,
        span: cursor.since(first),
    })
}

fn statement(cursor: &mut Cursor) -> Read<Kind> {
    let token = cursor.token();
    if cursor.at("$") {
        let register = register(cursor)?;
        cursor.expect(":=")?;
        let value = expression(cursor)?;
        return Ok(Kind::Assign { register, value });
    }
    cursor.bump();
    Ok(match token.text {
        "nop" => Kind::Nop,
        "fence" => Kind::Fence(Some(FenceKind::Full)),
        "ssfence" => Kind::Fence(Some(FenceKind::StoreStore)),
        "llfence" => Kind::Fence(None),
        "read" => read(cursor, How::Plain)?,
        "syncrd" => read(cursor, How::Synchronised)?,
        "syncwr" => write(cursor, How::Synchronised)?,
        "write" => write(cursor, How::Plain)?,
        "slocked" => {
            cursor.expect("write")?;
            write(cursor, How::StoreStore)?
        }
        "locked" if cursor.eat("write") => write(cursor, How::Locked)?,
        "locked" => Kind::Locked(branches(cursor)?),
        "cas" => {
            cursor.expect("(")?;
            let at = location(cursor)?;
            cursor.expect(",")?;
            let old = expression(cursor)?;
            cursor.expect(",")?;
            let new = expression(cursor)?;
            cursor.expect(")")?;
            Kind::Cas { at, old, new }
        }
        "assume" => {
            cursor.expect(":")?;
            Kind::Assume(condition(cursor)?)
        }
        "if" => {
            let condition = condition(cursor)?;
            cursor.expect("then")?;
            let then = Box::new(labelled(cursor)?);
            let otherwise = match cursor.eat("else") {
                true => Some(Box::new(labelled(cursor)?)),
                false => None,
            };
            Kind::If {
                condition,
                then,
                otherwise,
            }
        }
        "while" => {
            let condition = condition(cursor)?;
            cursor.expect("do")?;
            let body = Box::new(labelled(cursor)?);
            Kind::While { condition, body }
        }
        "goto" => {
            let label = cursor.word("a label")?;
            Kind::Goto(label.text.to_string(), label.span)
        }
        "either" => Kind::Either(branches(cursor)?),
        "{" => {
            let body = sequence(cursor)?;
            cursor.expect("}")?;
            Kind::Block(body)
        }
        "sffence" => {
            let message = format!("`{}` is not supported", token.text);
            let help = "it belongs to an architecture that SC, TSO and PSO do not describe";
            return Err(hinted(token.span, message, help));
        }
        _ => {
            let found = match token.kind {
                TokenKind::End => "the end".to_string(),
                _ => format!("`{}`", crate::import::scan::shortened(token.text)),
            };
            let message = format!("expected a statement, found {found}");
            return Err(crate::import::scan::wrong(token.span, message));
        }
    })
}

fn branches(cursor: &mut Cursor) -> Read<Vec<Vec<Statement>>> {
    cursor.expect("{")?;
    let mut branches = vec![sequence(cursor)?];
    while cursor.eat("or") {
        branches.push(sequence(cursor)?);
    }
    cursor.expect("}")?;
    Ok(branches)
}

fn read(cursor: &mut Cursor, how: How) -> Read<Kind> {
    cursor.expect(":")?;
    if cursor.at("$") {
        let register = register(cursor)?;
        cursor.expect(":=")?;
        let from = location(cursor)?;
        return Ok(Kind::Read {
            register,
            from,
            how,
        });
    }
    let from = location(cursor)?;
    cursor.expect("=")?;
    let value = expression(cursor)?;
    Ok(Kind::Await { from, value, how })
}

fn write(cursor: &mut Cursor, how: How) -> Read<Kind> {
    cursor.expect(":")?;
    let to = location(cursor)?;
    cursor.expect(":=")?;
    let value = expression(cursor)?;
    Ok(Kind::Write { to, value, how })
}

fn register(cursor: &mut Cursor) -> Read<(String, crate::source::Span)> {
    let first = cursor.expect("$")?;
    let name = cursor.word("the name of a register")?.text.to_string();
    Ok((name, cursor.since(first)))
}

fn location(cursor: &mut Cursor) -> Read<Location> {
    let first = cursor.token().span;
    if cursor.eat("[") {
        let pointer = expression(cursor)?;
        cursor.expect("]")?;
        return Ok(Location {
            kind: Owner::Pointer(pointer),
            span: cursor.since(first),
        });
    }
    let name = cursor.word("a location")?.text.to_string();
    let mut kind = Owner::Global(name.clone());
    if cursor.eat("[") {
        kind = match cursor.eat("my") {
            true => Owner::Own(name),
            false => {
                let other = cursor.int("`my` or the number of another process")?;
                let Ok(other) = u32::try_from(other) else {
                    return Err(cursor.error("processes are counted from 0"));
                };
                Owner::Other(name, other)
            }
        };
        cursor.expect("]")?;
    }
    Ok(Location {
        kind,
        span: cursor.since(first),
    })
}

/// The most operators in a row: each makes the tree deeper.
const LONGEST: usize = 32;

/// `+` and `-`, left to right.
fn expression(cursor: &mut Cursor) -> Read<Expr> {
    let mut left = unit(cursor)?;
    for count in 0.. {
        let op = match cursor.token().text {
            "+" => BinaryOp::Add,
            "-" => BinaryOp::Sub,
            _ => break,
        };
        if count == LONGEST {
            return Err(cursor.error(format!("more than {LONGEST} operators in a row")));
        }
        cursor.bump();
        left = build::binary(op, left, unit(cursor)?);
    }
    Ok(left)
}

fn unit(cursor: &mut Cursor) -> Read<Expr> {
    let first = cursor.token().span;
    if cursor.token().kind == TokenKind::Int
        || (cursor.at("-") && cursor.peek(1).kind == TokenKind::Int)
    {
        let value = cursor.int("a number")?;
        return Ok(build::int(value, cursor.since(first)));
    }
    if cursor.eat("-") {
        let operand = cursor.nested(unit)?;
        return Ok(build::unary(UnaryOp::Negate, operand, cursor.since(first)));
    }
    if cursor.eat("(") {
        let inner = cursor.nested(expression)?;
        cursor.expect(")")?;
        return Ok(inner);
    }
    if cursor.at("$") {
        let (name, span) = register(cursor)?;
        return Ok(build::var(&name, span));
    }
    if cursor.at_word() && !RESERVED.contains(&cursor.token().text) {
        let message = format!("'{}' cannot stand in an expression", cursor.token().text);
        return Err(cursor.hinted(message, "registers begin with `$`; read a variable first"));
    }
    Err(cursor.expected("an expression"))
}

/// `||` binds weakest, then `&&`, then `not`; square brackets group.
fn condition(cursor: &mut Cursor) -> Read<Expr> {
    chain(cursor, "||", BinaryOp::Or, |cursor| {
        chain(cursor, "&&", BinaryOp::And, negation)
    })
}

fn chain(
    cursor: &mut Cursor,
    symbol: &str,
    op: BinaryOp,
    operand: fn(&mut Cursor) -> Read<Expr>,
) -> Read<Expr> {
    let mut operands = vec![operand(cursor)?];
    while cursor.eat(symbol) {
        operands.push(operand(cursor)?);
    }
    Ok(build::chain(op, operands).expect("a chain has operands"))
}

fn negation(cursor: &mut Cursor) -> Read<Expr> {
    let first = cursor.token().span;
    if cursor.eat("not") || cursor.eat("!") {
        let operand = cursor.nested(negation)?;
        return Ok(build::unary(UnaryOp::Not, operand, cursor.since(first)));
    }
    if cursor.eat("[") {
        let inner = cursor.nested(condition)?;
        cursor.expect("]")?;
        return Ok(inner);
    }
    for (word, value) in [("true", true), ("false", false)] {
        if cursor.eat(word) {
            return Ok(build::expr(ExprKind::Bool(value), first));
        }
    }
    let left = expression(cursor)?;
    let op = match cursor.token().text {
        "=" => BinaryOp::Equal,
        "!=" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        ">" => BinaryOp::Greater,
        "<=" => BinaryOp::LessEqual,
        ">=" => BinaryOp::GreaterEqual,
        _ => return Err(cursor.expected("a comparison such as `=`")),
    };
    cursor.bump();
    Ok(build::binary(op, left, expression(cursor)?))
}
