//! The parts of a litmus file: header, initial state, table of code, questions.

use super::condition::{self, Condition, Observed, Quantifier};
use super::operand::Arch;
use crate::diagnostic::Diagnostic;
use crate::import::scan::{
    Cursor, Read, Token, TokenKind, blank_comments, hinted, shortened, tokens, wrong,
};
use crate::lang::diagnostics::Diagnostics;
use crate::source::{Source, Span};

/// What has an initial value.
pub type Target = Observed;

/// A litmus file, cut into its parts.
pub struct Sections {
    pub name: String,
    pub arch: Arch,
    /// The file without its comments.
    pub text: String,
    /// A declaration alone gives no value.
    pub initial: Vec<(Target, Option<i64>, Span)>,
    /// The names in the first row.
    pub processes: Vec<(String, Span)>,
    /// One cell per process in each row.
    pub rows: Vec<Vec<Span>>,
    pub shown: Vec<(Observed, Span)>,
    pub filter: Option<Condition>,
    pub quantifier: Quantifier,
    pub condition: Condition,
    /// The final condition as a whole.
    pub claim: Span,
}

const ARCHITECTURES: [&str; 9] = [
    "AArch64", "ARM", "PPC", "RISCV", "MIPS", "C", "LISA", "Bell", "JAVA",
];

const TYPES: [&str; 9] = [
    "int", "long", "unsigned", "int32_t", "int64_t", "uint32_t", "uint64_t", "uint8_t", "uint16_t",
];

/// Cuts a file into its parts. Independent errors go to the diagnostics.
pub fn read(source: &Source, diagnostics: &mut Diagnostics) -> Read<Sections> {
    let text = blank_comments(source.text(), "(*", "*)", true)?;
    let text = blank_comments(&text, "<<", ">>", false)?;
    let mut at = text
        .find(|c: char| !c.is_whitespace())
        .unwrap_or(text.len());
    if text[at..].starts_with('\u{feff}') {
        at += '\u{feff}'.len_utf8();
    }
    let line = text[at..].lines().next().unwrap_or("");
    let (arch, name) = header(line, at)?;
    let opening = skip_remarks(&text, at + line.len())?;
    let Some(length) = text[opening..].find('}') else {
        let span = Span::new(opening, opening + 1);
        return Err(hinted(
            span,
            "the initial state is never closed",
            "close it with `}`",
        ));
    };
    let closing = opening + length;
    let initial = initial_state(&text[..closing], opening + 1, arch, diagnostics);
    // Other tools write `};`.
    let rest = text[closing + 1..].trim_start();
    let code = match rest.strip_prefix(';') {
        Some(rest) => text.len() - rest.len(),
        None => closing + 1,
    };
    let (processes, rows, end) = table(&text, code, diagnostics)?;
    let mut sections = Sections {
        name,
        arch,
        text: String::new(),
        initial,
        processes,
        rows,
        shown: Vec::new(),
        filter: None,
        quantifier: Quantifier::Exists,
        condition: Condition::Constant(true, Span::new(end, end)),
        claim: Span::new(end, end),
    };
    let tail = tokens(&text, end)?;
    questions(&mut Cursor::new(&tail), arch, &mut sections)?;
    sections.text = text;
    Ok(sections)
}

/// `X86 NAME`.
fn header(line: &str, at: usize) -> Read<(Arch, String)> {
    let word = line.split_whitespace().next().unwrap_or("");
    let span = Span::new(at, at + word.len());
    let arch = match word.to_ascii_uppercase().as_str() {
        "X86" => Arch::X86,
        "X86_64" => Arch::X86_64,
        _ if ARCHITECTURES.contains(&word) => {
            let message = format!("a test for {word} cannot be read");
            return Err(hinted(
                span,
                message,
                "only X86 and X86_64 tests can be read",
            ));
        }
        _ => {
            let message = "a litmus test begins with its architecture and its name";
            return Err(hinted(span, message, "write `X86 NAME` or `X86_64 NAME`"));
        }
    };
    let name = line[word.len()..].trim();
    if name.is_empty() {
        return Err(hinted(span, "the test has no name", "write `X86 NAME`"));
    }
    Ok((arch, name.to_string()))
}

/// Skips a quoted string and `Key=value` lines; gives the offset of `{`.
fn skip_remarks(text: &str, mut at: usize) -> Read<usize> {
    loop {
        let rest = &text[at..];
        let Some(start) = rest.find(|c: char| !c.is_whitespace()) else {
            let span = Span::new(text.len(), text.len());
            return Err(hinted(
                span,
                "expected the initial state, found the end",
                "write `{ }` if everything starts at 0",
            ));
        };
        at += start;
        let rest = &text[at..];
        if rest.starts_with('{') {
            return Ok(at);
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            let Some(length) = quoted.find('"') else {
                return Err(wrong(Span::new(at, at + 1), "this string is never closed"));
            };
            at += length + 2;
            continue;
        }
        let line = rest.lines().next().unwrap_or("");
        let key = line.split('=').next().unwrap_or("").trim();
        let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !line.contains('=') || key.is_empty() || !key.chars().all(is_key) {
            let span = Span::new(at, at + line.trim_end().len());
            return Err(wrong(
                span,
                "expected `Key=value` or the initial state `{ … }`",
            ));
        }
        at += line.len();
    }
}

/// Runs of tokens between separators, each with an end of its own.
fn split<'a>(tokens: &[Token<'a>], separator: &str) -> Vec<Vec<Token<'a>>> {
    let mut parts = vec![Vec::new()];
    for token in tokens.iter().filter(|token| token.kind != TokenKind::End) {
        if token.text == separator {
            let end = Token {
                kind: TokenKind::End,
                text: "",
                span: token.span,
            };
            parts.last_mut().expect("there is a part").push(end);
            parts.push(Vec::new());
        } else {
            parts.last_mut().expect("there is a part").push(*token);
        }
    }
    if let (Some(last), Some(end)) = (parts.last_mut(), tokens.last()) {
        last.push(*end);
    }
    parts
}

fn initial_state(
    text: &str,
    start: usize,
    arch: Arch,
    diagnostics: &mut Diagnostics,
) -> Vec<(Target, Option<i64>, Span)> {
    let tokens = match tokens(text, start) {
        Ok(tokens) => tokens,
        Err(error) => {
            diagnostics.push(*error);
            return Vec::new();
        }
    };
    let mut initial = Vec::new();
    for item in split(&tokens, ";") {
        let mut cursor = Cursor::new(&item);
        if cursor.at_end() {
            continue;
        }
        match initial_item(&mut cursor, arch) {
            Ok(entry) => initial.push(entry),
            Err(error) => diagnostics.push(*error),
        }
    }
    initial
}

fn initial_item(cursor: &mut Cursor, arch: Arch) -> Read<(Target, Option<i64>, Span)> {
    if TYPES.contains(&cursor.token().text) && !matches!(cursor.peek(1).text, "=" | ":") {
        cursor.bump();
    }
    if cursor.at("*") {
        return Err(cursor.error("pointers cannot be read"));
    }
    let first = cursor.token().span;
    let target = condition::target(cursor, &|word| arch.register(word))?;
    let mut value = None;
    if cursor.eat("=") {
        if cursor.at_word() || cursor.at("&") {
            let message = format!("{target} starts with an address");
            return Err(cursor.hinted(message, "only numbers can be read, not pointers"));
        }
        value = Some(cursor.int("a number")?);
    }
    let span = cursor.since(first);
    cursor.finish()?;
    Ok((target, value, span))
}

/// The words that end the table of code.
fn ends_table(word: &str) -> bool {
    matches!(
        word,
        "exists" | "forall" | "locations" | "filter" | "final" | "~exists" | "~"
    )
}

type Table = (Vec<(String, Span)>, Vec<Vec<Span>>, usize);

/// The rows of code; the first names the processes.
fn table(text: &str, mut at: usize, diagnostics: &mut Diagnostics) -> Read<Table> {
    let mut processes: Vec<(String, Span)> = Vec::new();
    let mut rows = Vec::new();
    loop {
        let rest = &text[at..];
        at += rest
            .find(|c: char| !c.is_whitespace())
            .unwrap_or(rest.len());
        let rest = &text[at..];
        let word: &str = rest
            .split(|c: char| c.is_whitespace() || c == '(' || c == '[')
            .next()
            .unwrap_or("");
        if rest.is_empty() || ends_table(word) {
            break;
        }
        let Some(length) = rest.find(';') else {
            let line = rest.lines().next().unwrap_or("");
            let span = Span::new(at, at + line.trim_end().len());
            return Err(hinted(
                span,
                "this row of code does not end",
                "end it with `;`, and the code with `exists (…)`",
            ));
        };
        let mut cells = Vec::new();
        let mut start = at;
        for cell in rest[..length].split('|') {
            let lead = cell.len() - cell.trim_start().len();
            let end = start + lead + cell.trim().len();
            cells.push(Span::new(start + lead, end));
            start += cell.len() + 1;
        }
        if processes.is_empty() {
            processes = process_names(text, &cells)?;
        } else if cells.len() != processes.len() {
            let message = format!(
                "this row has {} cell{}, and there are {} processes",
                cells.len(),
                if cells.len() == 1 { "" } else { "s" },
                processes.len()
            );
            diagnostics.push(Diagnostic::error(Span::new(at, at + length), message));
        } else {
            rows.push(cells);
        }
        at += length + 1;
    }
    if processes.is_empty() {
        return Err(hinted(
            Span::new(at, at),
            "the test has no code",
            "the first row names the processes: `P0 | P1 ;`",
        ));
    }
    Ok((processes, rows, at))
}

fn process_names(text: &str, cells: &[Span]) -> Read<Vec<(String, Span)>> {
    let mut names = Vec::new();
    for (index, &span) in cells.iter().enumerate() {
        let name = &text[span.start as usize..span.end as usize];
        let number = name.strip_prefix(['P', 'p']).unwrap_or(name);
        if number.parse() != Ok(index) {
            let message = format!("expected `P{index}`, found `{}`", shortened(name));
            return Err(hinted(
                span,
                message,
                "the first row names the processes in order: `P0 | P1 ;`",
            ));
        }
        names.push((name.to_string(), span));
    }
    Ok(names)
}

/// `locations`, `filter` and the final condition.
fn questions(cursor: &mut Cursor, arch: Arch, sections: &mut Sections) -> Read<()> {
    let register = |word: &str| arch.register(word);
    loop {
        let first = cursor.token().span;
        if cursor.eat("locations") {
            cursor.expect("[")?;
            while !cursor.eat("]") {
                let start = cursor.token().span;
                if TYPES.contains(&cursor.token().text) && cursor.peek(1).kind == TokenKind::Word {
                    cursor.bump();
                }
                let observed = condition::target(cursor, &register)?;
                sections.shown.push((observed, cursor.since(start)));
                if !cursor.eat(";") && !cursor.at("]") {
                    return Err(cursor.expected("`;` or `]`"));
                }
            }
            continue;
        }
        if cursor.eat("filter") {
            sections.filter = Some(condition::read(cursor, &register)?);
            continue;
        }
        let negated = cursor.eat("~");
        sections.quantifier = match cursor.token().text {
            "exists" => Quantifier::Exists,
            "forall" | "final" if negated => return Err(cursor.expected("`exists`")),
            "forall" => Quantifier::Forall,
            "final" => Quantifier::Exists,
            _ => return Err(cursor.expected("`exists`, `~exists` or `forall`")),
        };
        let last = cursor.bump().text;
        sections.condition = condition::read(cursor, &register)?;
        sections.claim = cursor.since(first);
        cursor.eat(";");
        if last == "final" && cursor.eat("with") {
            while !cursor.at_end() {
                cursor.bump();
            }
        }
        return cursor.finish();
    }
}
