//! Registers and operands, in the order of Intel or of AT&T.

use crate::import::scan::{Cursor, Read, TokenKind, hinted, shortened};

/// Which registers there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arch {
    X86,
    X86_64,
}

pub enum Operand {
    Register(String),
    Location(String),
    Immediate(i64),
}

/// The registers without the letter that tells their width.
const REGISTERS: [&str; 8] = ["AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP"];

impl Arch {
    /// The name of a register of 32 or 64 bits: both are one.
    pub fn register(self, word: &str) -> Option<String> {
        let word = word.to_ascii_uppercase();
        let base = word.strip_prefix(['E', 'R']);
        if let Some(base) = base.filter(|base| REGISTERS.contains(base)) {
            return Some(match self {
                Arch::X86 => format!("E{base}"),
                Arch::X86_64 => format!("r{}", base.to_ascii_lowercase()),
            });
        }
        let number = word.strip_prefix('R')?;
        let number = number.strip_suffix('D').unwrap_or(number);
        let known = matches!(number.parse(), Ok(8..=15)) && !number.starts_with(['0', '+']);
        known.then(|| format!("r{number}"))
    }

    /// The register that a compare-and-exchange compares with.
    pub fn accumulator(self) -> String {
        match self {
            Arch::X86 => "EAX".to_string(),
            Arch::X86_64 => "rax".to_string(),
        }
    }
}

/// How an operand is written.
#[derive(PartialEq, Eq)]
enum Style {
    Intel,
    Att,
    Either,
}

/// Reads all operands, the target first. A suffix, `%` and `(x)` mean the order of AT&T,
/// which names the target last.
pub fn operands(cursor: &mut Cursor, arch: Arch, suffixed: bool) -> Read<Vec<Operand>> {
    let first = cursor.token().span;
    let mut operands = Vec::new();
    let (mut intel, mut att) = (false, suffixed);
    if !cursor.at_end() {
        loop {
            let (operand, style) = operand(cursor, arch)?;
            intel |= style == Style::Intel;
            att |= style == Style::Att;
            operands.push(operand);
            if !cursor.eat(",") {
                break;
            }
        }
    }
    if intel && att && !suffixed {
        let message = "it is not clear which operand is the target";
        let help =
            "write `MOV [x],EAX` with the target first, or `movl %eax,(x)` with the target last";
        return Err(hinted(cursor.since(first), message, help));
    }
    if att {
        operands.reverse();
    }
    Ok(operands)
}

fn operand(cursor: &mut Cursor, arch: Arch) -> Read<(Operand, Style)> {
    for (open, close, style) in [("[", "]", Style::Intel), ("(", ")", Style::Att)] {
        if cursor.eat(open) {
            let register = cursor.at("%") || arch.register(cursor.token().text).is_some();
            if register || cursor.token().kind == TokenKind::Int {
                let message = "an address in a register or a number cannot be read";
                return Err(cursor.hinted(message, "name the location: `[x]`"));
            }
            let name = cursor.word("a location")?.text.to_string();
            cursor.expect(close)?;
            return Ok((Operand::Location(name), style));
        }
    }
    if cursor.eat("$") || cursor.at("-") || cursor.token().kind == TokenKind::Int {
        let value = cursor.int("a number")?;
        return Ok((Operand::Immediate(value), Style::Either));
    }
    let style = match cursor.eat("%") {
        true => Style::Att,
        false => Style::Either,
    };
    let word = cursor.token();
    // Where compilers put what is shared: `x(%rip)`.
    let address = [1, 2, 3, 4].map(|ahead| cursor.peek(ahead).text);
    if word.kind == TokenKind::Word && style == Style::Either && address == ["(", "%", "rip", ")"] {
        for _ in 0..5 {
            cursor.bump();
        }
        return Ok((Operand::Location(word.text.to_string()), Style::Att));
    }
    match arch.register(word.text) {
        Some(register) => {
            cursor.bump();
            Ok((Operand::Register(register), style))
        }
        None if word.kind == TokenKind::Word => {
            let message = format!("unknown register '{}'", shortened(word.text));
            let help = format!(
                "registers of 32 and 64 bits can be read; a location is `[{}]`",
                shortened(word.text)
            );
            Err(cursor.hinted(message, help))
        }
        None => Err(cursor.expected("an operand")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_one() {
        let names = ["eax", "RAX", "r8", "R15D", "rsp"].map(|word| Arch::X86_64.register(word));
        let expected = ["rax", "rax", "r8", "r15", "rsp"].map(|name| Some(name.to_string()));
        assert_eq!(names, expected);
        assert_eq!(Arch::X86.register("rbx"), Some("EBX".to_string()));
        for word in ["al", "ax", "x", "r16", "r08", "r", "e"] {
            assert_eq!(Arch::X86.register(word), None, "{word}");
        }
    }
}
