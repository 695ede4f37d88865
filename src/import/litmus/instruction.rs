//! The instructions of one process, read from the cells of its column.

use super::operand::{Arch, Operand, operands};
use crate::diagnostic::Diagnostic;
use crate::import::scan::{Cursor, Read, TokenKind, hinted, shortened, tokens};
use crate::program::FenceKind;
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The code of one process.
pub struct Code {
    pub name: String,
    pub span: Span,
    pub arch: Arch,
    pub instructions: Vec<Instruction>,
    /// The registers it has, and the scratch locals.
    pub registers: BTreeSet<String>,
    /// The locations it accesses, and where first.
    pub locations: BTreeMap<String, Span>,
    /// Where labels stand: the span of the name, and which instruction it is.
    pub labels: BTreeMap<String, (Span, usize)>,
}

pub struct Instruction {
    pub label: Option<(String, Span)>,
    /// None for a label by itself.
    pub operation: Option<Operation>,
    pub span: Span,
}

pub enum Operation {
    Move(Operand, Operand),
    /// None for a fence that orders nothing which the models reorder.
    Fence(Option<FenceKind>),
    Exchange {
        location: String,
        register: String,
    },
    /// Adds to a register or location.
    Add {
        to: Operand,
        what: Operand,
        negative: bool,
        locked: bool,
    },
    ExchangeAdd {
        location: String,
        register: String,
    },
    CompareExchange {
        location: String,
        register: String,
    },
    Compare(Operand, Operand),
    /// Compares a register with 0.
    Test(String),
    Jump {
        /// What it depends on, if it depends on something.
        when: Option<When>,
        label: String,
        at: Span,
    },
    /// The process ends.
    Return,
}

/// What a jump depends on: what was compared last, and whether that must be so or not.
#[derive(Clone, Copy)]
pub enum When {
    Equal(bool),
    /// As numbers with a sign.
    Less(bool),
    LessOrEqual(bool),
}

impl When {
    /// The flags that it looks at.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            When::Equal(_) => &[ZERO],
            When::Less(_) => &[LESS],
            When::LessOrEqual(_) => &[ZERO, LESS],
        }
    }
}

/// Whether the first of two numbers that were compared was less than the second, or a result was
/// negative.
pub const LESS: &str = "LF";
/// The zero flag, a value on its way, and the success of a compare-and-exchange.
pub const ZERO: &str = "ZF";
pub const SCRATCH: &str = "tmp";
pub const SUCCESS: &str = "ok";

/// Reads one cell of the table.
pub fn read(text: &str, cell: Span, code: &mut Code) -> Read<()> {
    let tokens = tokens(&text[..cell.end as usize], cell.start as usize)?;
    let mut cursor = Cursor::new(&tokens);
    if cursor.at_end() {
        return Ok(());
    }
    let mut label = None;
    let dot = usize::from(cursor.at("."));
    if cursor.peek(dot + 1).text == ":" {
        let (name, at) = self::label(&mut cursor)?;
        cursor.bump();
        label = Some((name.clone(), cursor.since(at)));
        let place = (at, code.instructions.len());
        if let Some((first, _)) = code.labels.insert(name.clone(), place) {
            let message = format!("duplicate label '{name}'");
            let error = Diagnostic::error(at, message);
            return Err(Box::new(error.related(first, "first placed here")));
        }
    }
    let first = cursor.token().span;
    let (operation, span) = match cursor.at_end() {
        true => (None, cell),
        false => {
            let operation = operation(&mut cursor, code.arch)?;
            cursor.finish()?;
            (Some(operation), cursor.since(first))
        }
    };
    if let Some(operation) = &operation {
        code.note(operation, span);
    }
    code.instructions.push(Instruction {
        label,
        operation,
        span,
    });
    Ok(())
}

/// The name of a label; compilers begin theirs with a dot.
fn label(cursor: &mut Cursor) -> Read<(String, Span)> {
    let first = cursor.token().span;
    let dot = if cursor.eat(".") { "." } else { "" };
    let name = cursor.word("a label")?.text;
    Ok((format!("{dot}{name}"), cursor.since(first)))
}

fn operation(cursor: &mut Cursor, arch: Arch) -> Read<Operation> {
    let locked = cursor.token().text.eq_ignore_ascii_case("lock");
    if locked {
        cursor.bump();
    }
    let token = cursor.word("an instruction")?;
    let word = token.text.to_ascii_uppercase();
    let (word, suffixed) = match word.strip_suffix(['L', 'Q']) {
        Some(base) if SUFFIXED.contains(&base) => (base.to_string(), true),
        _ => (word, false),
    };
    let jump = match word.as_str() {
        "JMP" => Some(None),
        "JE" | "JZ" => Some(Some(When::Equal(true))),
        "JNE" | "JNZ" => Some(Some(When::Equal(false))),
        "JL" | "JNGE" | "JS" => Some(Some(When::Less(true))),
        "JGE" | "JNL" | "JNS" => Some(Some(When::Less(false))),
        "JLE" | "JNG" => Some(Some(When::LessOrEqual(true))),
        "JG" | "JNLE" => Some(Some(When::LessOrEqual(false))),
        _ => None,
    };
    if let Some(when) = jump.filter(|_| !locked) {
        let (label, at) = label(cursor)?;
        return Ok(Operation::Jump { when, label, at });
    }
    if word == "RET" && !locked {
        return Ok(Operation::Return);
    }
    let fence = match word.as_str() {
        "MFENCE" => Some(Some(FenceKind::Full)),
        "SFENCE" => Some(Some(FenceKind::StoreStore)),
        "LFENCE" | "NOP" | "PAUSE" | "ENDBR64" | "ENDBR32" => Some(None),
        _ => None,
    };
    if let Some(kind) = fence.filter(|_| !locked) {
        return Ok(Operation::Fence(kind));
    }
    if locked && ["ADD", "OR"].contains(&word.as_str()) && stack_fence(cursor) {
        return Ok(Operation::Fence(Some(FenceKind::Full)));
    }
    if !SUFFIXED.contains(&word.as_str()) {
        return Err(unknown(token.text, token.span));
    }
    let operands = operands(cursor, arch, suffixed)?;
    let span = cursor.since(token.span);
    let operation = combine(&word, operands, locked);
    operation.ok_or_else(|| {
        let lock = if locked { "LOCK " } else { "" };
        let message = format!("{lock}{word} cannot be read with these operands");
        hinted(span, message, usage(&word))
    })
}

/// Skips `$0, (%rsp)` or `$0, -8(%rsp)`: locked and on the stack, it changes nothing, and compilers
/// print it for a fence.
fn stack_fence(cursor: &mut Cursor) -> bool {
    let text = |ahead: usize| cursor.peek(ahead).text.to_ascii_lowercase();
    let mut end = 3;
    if [text(0), text(1), text(2)] != ["$", "0", ","] {
        return false;
    }
    if text(end) == "-" {
        end += 1;
    }
    if cursor.peek(end).kind == TokenKind::Int {
        end += 1;
    }
    let stack = ["rsp", "esp"].contains(&text(end + 2).as_str());
    if [text(end), text(end + 1), text(end + 3)] != ["(", "%", ")"] || !stack {
        return false;
    }
    for _ in 0..end + 4 {
        cursor.bump();
    }
    true
}

/// The instructions that may carry a suffix for their width.
const SUFFIXED: [&str; 13] = [
    "MOV", "XCHG", "XADD", "CMPXCHG", "INC", "DEC", "ADD", "SUB", "CMP", "TEST", "AND", "OR", "XOR",
];

fn usage(word: &str) -> &'static str {
    match word {
        "MOV" => "a MOV has a register on at least one side, or stores a number",
        "XCHG" => "it exchanges a register and a location",
        "XADD" => "it is read as `LOCK XADD [x],EAX`",
        "CMPXCHG" => "it is read as `LOCK CMPXCHG [x],EBX`",
        "CMP" => "it compares a register or location with a register or number",
        "TEST" | "AND" | "OR" => "it is read with one register twice, which compares it with 0",
        "XOR" => "it is read as `XOR EAX,EAX`, which sets a register to 0",
        _ => "it changes a register or location; LOCK needs a location",
    }
}

fn unknown(word: &str, span: Span) -> Box<Diagnostic> {
    let message = format!("unknown instruction '{}'", shortened(word));
    let help = "MOV, MFENCE, SFENCE, LFENCE, XCHG, LOCK XADD, LOCK CMPXCHG, INC, DEC, ADD, SUB, CMP, TEST, XOR, RET, PAUSE, JMP and jumps on equality or on numbers with a sign (JE, JNE, JL, JLE, JG, JGE, JS, JNS) can be read";
    hinted(span, message, help)
}

/// The meaning of an instruction, if it has one with these operands, target first.
fn combine(word: &str, operands: Vec<Operand>, locked: bool) -> Option<Operation> {
    use Operand::{Immediate, Location, Register};
    let mut operands = operands.into_iter();
    let (first, second) = (operands.next()?, operands.next());
    if operands.next().is_some() {
        return None;
    }
    let add = |to: Operand, what, negative| {
        let to_location = matches!(to, Location(_));
        let fits = !matches!(to, Immediate(_)) && (to_location || !locked);
        fits.then_some(Operation::Add {
            to,
            what,
            negative,
            locked,
        })
    };
    match (word, first, second) {
        ("INC", to, None) => add(to, Immediate(1), false),
        ("DEC", to, None) => add(to, Immediate(1), true),
        ("ADD" | "SUB", _, Some(Location(_))) => None,
        ("ADD", to, Some(what)) => add(to, what, false),
        ("SUB", to, Some(what)) => add(to, what, true),
        ("XCHG", Location(location), Some(Register(register)))
        | ("XCHG", Register(register), Some(Location(location))) => {
            Some(Operation::Exchange { location, register })
        }
        ("XADD", Location(location), Some(Register(register))) if locked => {
            Some(Operation::ExchangeAdd { location, register })
        }
        ("CMPXCHG", Location(location), Some(Register(register))) if locked => {
            Some(Operation::CompareExchange { location, register })
        }
        _ if locked => None,
        ("MOV", Location(_), Some(Location(_))) | ("MOV", Immediate(_), _) => None,
        ("MOV", to, Some(from)) => Some(Operation::Move(to, from)),
        ("CMP", Location(_), Some(Location(_))) | ("CMP", Immediate(_), _) => None,
        ("CMP", left, Some(right)) => Some(Operation::Compare(left, right)),
        ("TEST" | "AND" | "OR", Register(one), Some(Register(other))) if other == one => {
            Some(Operation::Test(one))
        }
        ("XOR", Register(one), Some(Register(other))) if other == one => {
            add(Register(one), Register(other), true)
        }
        _ => None,
    }
}

impl Code {
    pub fn new(name: String, span: Span, arch: Arch) -> Code {
        Code {
            name,
            span,
            arch,
            instructions: Vec::new(),
            registers: BTreeSet::new(),
            locations: BTreeMap::new(),
            labels: BTreeMap::new(),
        }
    }

    /// Notes the registers and locations that an operation needs.
    fn note(&mut self, operation: &Operation, span: Span) {
        let mut registers = Vec::new();
        let mut locations = Vec::new();
        let mut operand = |operand: &Operand| match operand {
            Operand::Register(register) => registers.push(register.clone()),
            Operand::Location(location) => locations.push(location.clone()),
            Operand::Immediate(_) => {}
        };
        match operation {
            Operation::Move(to, from) => [to, from].into_iter().for_each(operand),
            Operation::Add { to, what, .. } => {
                [to, what].into_iter().for_each(&mut operand);
                if matches!(to, Operand::Location(_)) {
                    registers.push(SCRATCH.to_string());
                }
            }
            Operation::Compare(left, right) => {
                [left, right].into_iter().for_each(&mut operand);
                if let (Operand::Location(_), _) | (_, Operand::Location(_)) = (left, right) {
                    registers.push(SCRATCH.to_string());
                }
            }
            Operation::Exchange { location, register }
            | Operation::ExchangeAdd { location, register } => {
                registers.push(register.clone());
                locations.push(location.clone());
            }
            Operation::CompareExchange { location, register } => {
                let scratch = [SCRATCH, SUCCESS].map(str::to_string);
                registers.extend(scratch);
                registers.extend([register.clone(), self.arch.accumulator()]);
                locations.push(location.clone());
            }
            Operation::Test(register) => registers.push(register.clone()),
            Operation::Jump { when, .. } => {
                let flags = when.iter().flat_map(|when| when.flags());
                registers.extend(flags.map(|flag| flag.to_string()));
            }
            Operation::Fence(_) | Operation::Return => {}
        }
        self.registers.extend(registers);
        for location in locations {
            self.locations.entry(location).or_insert(span);
        }
    }
}
