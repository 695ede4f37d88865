//! Lines to threads.

use crate::diagnostic::Diagnostic;
use crate::import::build;
use crate::import::scan::{DEEPEST, Read, hinted, shortened, wrong};
use crate::lang::ast::Expr;
use crate::lang::diagnostics::Diagnostics;
use crate::program::value::fit;
use crate::program::{BinaryOp, UnaryOp};
use crate::source::{Source, Span};

/// A word and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a> {
    pub text: &'a str,
    pub span: Span,
}

pub struct File<'a> {
    pub size: Option<i64>,
    pub threads: Vec<Thread<'a>>,
}

pub struct Thread<'a> {
    pub name: Word<'a>,
    pub initial: Option<Word<'a>>,
    pub transitions: Vec<Transition<'a>>,
}

pub struct Transition<'a> {
    pub from: Word<'a>,
    pub to: Word<'a>,
    pub instruction: Instruction<'a>,
    /// The instruction, and the whole line.
    pub span: Span,
    pub line: Span,
}

pub enum Instruction<'a> {
    Write { value: Expr, address: Expr },
    Read { register: Word<'a>, address: Expr },
    Local { register: Word<'a>, value: Expr },
    Check(Expr),
    Fence,
    Lock,
    Unlock,
    Noop,
}

/// Reads a file; what is wrong goes to the diagnostics.
pub fn file<'a>(source: &'a Source, diagnostics: &mut Diagnostics) -> File<'a> {
    let mut file = File {
        size: None,
        threads: Vec::new(),
    };
    let mut open = false;
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        let words = words(line, start);
        start += line.len();
        if words.first().is_none_or(|word| word.text.starts_with('#')) {
            continue;
        }
        if let Err(error) = read_line(&words, &mut file, &mut open) {
            diagnostics.push(*error);
        }
    }
    if let (true, Some(thread)) = (open, file.threads.last()) {
        let message = format!("the thread '{}' never ends", shortened(thread.name.text));
        diagnostics.push(Diagnostic::error(thread.name.span, message).help("close it with `end`"));
    }
    if file.threads.is_empty() && diagnostics.is_empty() {
        let error = Diagnostic::error(Span::new(0, 0), "there is no thread");
        diagnostics.push(error.help("a thread begins with `thread NAME`"));
    }
    file
}

fn words(line: &str, start: usize) -> Vec<Word<'_>> {
    let offset = |text: &str| text.as_ptr() as usize - line.as_ptr() as usize;
    let words = line.split_whitespace().map(|text| {
        let at = start + offset(text);
        let span = Span::new(at, at + text.len());
        Word { text, span }
    });
    words.collect()
}

fn read_line<'a>(words: &[Word<'a>], file: &mut File<'a>, open: &mut bool) -> Read<()> {
    let [first, rest @ ..] = words else {
        return Ok(());
    };
    let thread = file.threads.last_mut().filter(|_| *open);
    match (first.text, rest, thread) {
        ("memory_size", [size], None) => {
            file.size = match size.text.parse() {
                Ok(size @ 1..=4096) => Some(size),
                _ => return Err(hinted(size.span, "not a size of memory", "1 to 4096")),
            };
        }
        ("thread", [name], None) => {
            if file.threads.iter().any(|t| t.name.text == name.text) {
                let message = format!("there are two threads '{}'", shortened(name.text));
                return Err(wrong(name.span, message));
            }
            file.threads.push(Thread {
                name: *name,
                initial: None,
                transitions: Vec::new(),
            });
            *open = true;
        }
        ("initial", [state], Some(thread)) => thread.initial = Some(*state),
        ("transition", [from, to, instruction @ ..], Some(thread)) => {
            let transition = transition(*from, *to, instruction, first.span)?;
            thread.transitions.push(transition);
        }
        ("end", [], Some(thread)) => {
            *open = false;
            if thread.initial.is_none() {
                let message = format!("'{}' has no initial state", shortened(thread.name.text));
                return Err(hinted(thread.name.span, message, "add `initial STATE`"));
            }
        }
        ("memory_size" | "thread" | "initial" | "transition" | "end", ..) => {
            let message = format!("`{}` cannot stand here like this", first.text);
            let help = "a thread is `thread NAME`, `initial STATE`, lines `transition FROM TO INSTRUCTION`, `end`";
            return Err(hinted(first.span, message, help));
        }
        _ => {
            let message = format!("unknown word '{}'", shortened(first.text));
            let help =
                "lines begin with `thread`, `initial`, `transition`, `end`, `memory_size` or `#`";
            return Err(hinted(first.span, message, help));
        }
    }
    Ok(())
}

fn transition<'a>(
    from: Word<'a>,
    to: Word<'a>,
    words: &[Word<'a>],
    keyword: Span,
) -> Read<Transition<'a>> {
    let [name, operands @ ..] = words else {
        return Err(wrong(
            keyword.to(to.span),
            "this transition has no instruction",
        ));
    };
    let last = operands.last().unwrap_or(name).span;
    let mut rest = operands.iter();
    let expr = |rest: &mut std::slice::Iter<Word<'a>>| expression(rest, name.span, 0);
    let instruction = match name.text {
        "write" => Instruction::Write {
            value: expr(&mut rest)?,
            address: expr(&mut rest)?,
        },
        "read" => Instruction::Read {
            register: register(&mut rest, name.span)?,
            address: expr(&mut rest)?,
        },
        "local" => Instruction::Local {
            register: register(&mut rest, name.span)?,
            value: expr(&mut rest)?,
        },
        "check" => Instruction::Check(expr(&mut rest)?),
        "mfence" => Instruction::Fence,
        "lock" => Instruction::Lock,
        "unlock" => Instruction::Unlock,
        "noop" => Instruction::Noop,
        other => {
            let message = format!("unknown instruction '{}'", shortened(other));
            let help = "write, read, local, check, mfence, lock, unlock and noop can be read";
            return Err(hinted(name.span, message, help));
        }
    };
    if let Some(more) = rest.next() {
        let message = format!("'{}' is one word too many", shortened(more.text));
        return Err(wrong(more.span, message));
    }
    Ok(Transition {
        from,
        to,
        instruction,
        span: name.span.to(last),
        line: keyword.to(last),
    })
}

fn register<'a>(words: &mut std::slice::Iter<Word<'a>>, at: Span) -> Read<Word<'a>> {
    let word = words.next().copied();
    let word = word.ok_or_else(|| wrong(at, "a register is missing behind this"))?;
    match operator(word.text).is_some() || word.text.parse::<i64>().is_ok() {
        true => Err(wrong(
            word.span,
            format!("'{}' is not a register", shortened(word.text)),
        )),
        false => Ok(word),
    }
}

fn operator(word: &str) -> Option<BinaryOp> {
    Some(match word {
        "==" => BinaryOp::Equal,
        "!=" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterEqual,
        "&&" => BinaryOp::And,
        "||" => BinaryOp::Or,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "&" => BinaryOp::BitAnd,
        "|" => BinaryOp::BitOr,
        "^" => BinaryOp::BitXor,
        _ => return None,
    })
}

/// An expression in prefix notation; registers keep their foreign names.
fn expression(words: &mut std::slice::Iter<Word>, at: Span, depth: usize) -> Read<Expr> {
    let word = words.next().copied();
    let word = word.ok_or_else(|| wrong(at, "an operand is missing behind this"))?;
    if depth > DEEPEST {
        return Err(wrong(
            word.span,
            format!("nested too deeply: more than {DEEPEST} levels"),
        ));
    }
    if let Some(op) = operator(word.text) {
        let left = expression(words, word.span, depth + 1)?;
        let right = expression(words, word.span, depth + 1)?;
        let mut joined = build::binary(op, left, right);
        joined.span = joined.span.to(word.span);
        return Ok(joined);
    }
    match word.text {
        "!" | "~" => {
            let operand = expression(words, word.span, depth + 1)?;
            let span = word.span.to(operand.span);
            let op = match word.text {
                "!" => UnaryOp::Not,
                _ => UnaryOp::Complement,
            };
            Ok(build::unary(op, operand, span))
        }
        "/" | "%" => {
            let message = format!("the operator `{}` is not supported", word.text);
            Err(wrong(word.span, message))
        }
        text if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            let value = fit(text.parse().ok());
            let value = value.map_err(|_| {
                let message = format!("'{}' is not a number of 32 bits", shortened(text));
                wrong(word.span, message)
            })?;
            Ok(build::int(value, word.span))
        }
        text => Ok(build::var(text, word.span)),
    }
}
