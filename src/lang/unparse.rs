//! A syntax tree as text, for programs that were not written in the native language.

mod expr;

use super::ast::{
    Ast, Block, Condition, Declaration, Init, Item, Member, Place, Predicate, Process, Property,
    Range, Stmt, StmtKind, Type,
};
use super::insert_fences::words;
use crate::program::{FenceKind, FenceSite, Side};
use std::fmt::Write;

pub use expr::expr;

/// The program as text, with these fences typed in.
pub fn unparse(ast: &Ast, fences: &[(FenceSite, FenceKind)]) -> String {
    let mut printer = Printer {
        fences,
        out: String::new(),
        indent: 0,
        nofence: false,
    };
    let mut previous = None;
    for item in &ast.items {
        let kind = std::mem::discriminant(item);
        let apart = matches!(item, Item::Process(_)) || previous != Some(kind);
        if apart && previous.is_some() {
            printer.out.push('\n');
        }
        previous = Some(kind);
        printer.item(item);
    }
    printer.out
}

struct Printer<'a> {
    fences: &'a [(FenceSite, FenceKind)],
    out: String,
    indent: usize,
    nofence: bool,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push_str(&"    ".repeat(self.indent));
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Const { name, value } => {
                self.line(&format!("const {} = {};", name.text, expr(value)));
            }
            Item::Shared(declared) => self.line(&format!("shared {}", declaration(declared))),
            Item::Process(process) => self.process(process),
            Item::Property(stated) => self.line(&property(stated)),
        }
    }

    fn process(&mut self, process: &Process) {
        let name = &process.name.text;
        let parameter = process.parameter.as_ref().map(|parameter| {
            let values = range(&parameter.range);
            format!("[{} in {values}]", parameter.name.text)
        });
        let head = format!("process {name}{} ", parameter.unwrap_or_default());
        self.block(&head, &process.body, "");
    }

    /// A block behind some words and before others.
    fn block(&mut self, head: &str, block: &Block, tail: &str) {
        self.line(&format!("{head}{{"));
        self.members(block);
        self.line(&format!("}}{tail}"));
    }

    fn members(&mut self, block: &Block) {
        self.indent += 1;
        let mut statements = 0;
        for member in &block.members {
            match member {
                Member::Locals(declared) => self.line(&declaration(declared)),
                Member::Statement(statement) => {
                    statements += 1;
                    self.spaced(statement);
                }
            }
        }
        if statements == 0 {
            self.fence(Side::Inside, block.span);
        }
        self.indent -= 1;
    }

    /// The fences at one side of a statement.
    fn fence(&mut self, side: Side, statement: crate::source::Span) {
        let here = |(site, _): &&(FenceSite, _)| site.side == side && site.statement == statement;
        if self.nofence {
            return;
        }
        let kinds: Vec<FenceKind> = self.fences.iter().filter(here).map(|(_, k)| *k).collect();
        for kind in kinds {
            self.line(words(kind));
        }
    }

    /// A statement with the fences around it.
    fn spaced(&mut self, statement: &Stmt) {
        self.fence(Side::Before, statement.span);
        self.statement(statement);
        self.fence(Side::After, statement.span);
    }

    fn statement(&mut self, statement: &Stmt) {
        let text = match &statement.kind {
            StmtKind::Labelled { label, statement } => {
                return self.labelled(&label.text, statement);
            }
            StmtKind::If {
                condition: tested,
                then,
                otherwise,
            } => {
                let head = format!("if ({})", condition(tested));
                let Some(otherwise) = otherwise else {
                    return self.body(&head, then, "");
                };
                self.body_in_braces(&format!("{head} "), then, " else {");
                self.body_members(otherwise);
                return self.line("}");
            }
            StmtKind::While {
                condition: tested,
                body,
            } => return self.body(&format!("while ({})", condition(tested)), body, ""),
            StmtKind::DoWhile {
                body,
                condition: tested,
            } => {
                let tail = format!(" while ({});", condition(tested));
                return self.body_in_braces("do ", body, &tail);
            }
            StmtKind::For {
                variable,
                range: through,
                body,
                ..
            } => {
                let head = format!("for ({} in {})", variable.text, range(through));
                return self.body(&head, body, "");
            }
            StmtKind::Repeat { count, body, .. } => {
                return self.body(&format!("repeat ({})", expr(count)), body, "");
            }
            StmtKind::Either(branches) => return self.either(branches),
            StmtKind::Expanded(block) => return self.block("", block, ""),
            StmtKind::Nofence(block) => {
                let outer = std::mem::replace(&mut self.nofence, true);
                self.small_block("nofence ", block);
                self.nofence = outer;
                return;
            }
            StmtKind::Atomic(block) => {
                let outer = std::mem::replace(&mut self.nofence, true);
                self.small_block("atomic ", block);
                self.nofence = outer;
                return;
            }
            StmtKind::Block(block) => return self.block("", block, ""),
            _ => simple(statement).unwrap_or_default(),
        };
        self.line(&text);
    }

    /// `L: s`, on one line if the statement is a simple one without a fence before it.
    fn labelled(&mut self, label: &str, statement: &Stmt) {
        let before = self.out.len();
        self.fence(Side::Before, statement.span);
        let fenced = self.out.split_off(before);
        match simple(statement) {
            Some(text) if fenced.is_empty() => self.line(&format!("{label}: {text}")),
            _ if fenced.is_empty() => {
                self.line(&format!("{label}:"));
                self.statement(statement);
            }
            // The label names the statement behind it: that is now the fence.
            _ => {
                self.line(&format!("{label}:"));
                self.out.push_str(&fenced);
                self.statement(statement);
            }
        }
    }

    /// The body of an `if` or `while`: a simple statement stays on the line.
    fn body(&mut self, head: &str, body: &Stmt, tail: &str) {
        let inside = |(site, _): &(FenceSite, _)| site.body == Some(body.span);
        match simple(body) {
            Some(text) if self.nofence || !self.fences.iter().any(inside) => {
                self.line(&format!("{head} {text}"));
            }
            _ => self.body_in_braces(&format!("{head} "), body, tail),
        }
    }

    fn body_in_braces(&mut self, head: &str, body: &Stmt, tail: &str) {
        self.line(&format!("{head}{{"));
        self.body_members(body);
        self.line(&format!("}}{tail}"));
    }

    fn body_members(&mut self, body: &Stmt) {
        if let StmtKind::Block(block) = &body.kind {
            return self.members(block);
        }
        self.indent += 1;
        self.spaced(body);
        self.indent -= 1;
    }

    fn either(&mut self, branches: &[Block]) {
        for (index, branch) in branches.iter().enumerate() {
            let head = if index == 0 { "either {" } else { "} or {" };
            self.line(head);
            self.members(branch);
        }
        self.line("}");
    }

    /// A block on one line if it holds few simple statements.
    fn small_block(&mut self, head: &str, block: &Block) {
        let texts: Option<Vec<String>> = block
            .members
            .iter()
            .map(|member| match member {
                Member::Statement(statement) => inline(statement),
                Member::Locals(_) => None,
            })
            .collect();
        match texts.map(|texts| format!("{head}{{ {} }}", texts.join(" "))) {
            Some(text) if text.len() + 4 * self.indent <= 100 => self.line(&text),
            _ => self.block(head, block, ""),
        }
    }
}

/// A statement that fits on a line: a simple one, or a test before one.
fn inline(statement: &Stmt) -> Option<String> {
    match &statement.kind {
        StmtKind::Labelled { label, statement } => {
            Some(format!("{}: {}", label.text, simple(statement)?))
        }
        StmtKind::If {
            condition: tested,
            then,
            otherwise: None,
        } => Some(format!("if ({}) {}", condition(tested), simple(then)?)),
        StmtKind::DoWhile {
            body,
            condition: tested,
        } => {
            let body = match &body.kind {
                StmtKind::Block(block) => match &block.members[..] {
                    [Member::Statement(only)] => simple(only)?,
                    _ => return None,
                },
                _ => simple(body)?,
            };
            Some(format!("do {{ {body} }} while ({});", condition(tested)))
        }
        _ => simple(statement),
    }
}

/// The text of a statement without statements inside.
fn simple(statement: &Stmt) -> Option<String> {
    Some(match &statement.kind {
        StmtKind::Store { place: to, value } => {
            format!("store {} = {};", place(to), expr(value))
        }
        StmtKind::Load {
            target,
            place: from,
        } => format!("load {} = {};", target.text, place(from)),
        StmtKind::Cas {
            target,
            old,
            place: at,
            expected,
            new,
        } => {
            let (expected, new) = (expr(expected), expr(new));
            let old = old.as_ref().map(|old| format!(", {}", old.text));
            let results = format!("{}{}", target.text, old.unwrap_or_default());
            format!("cas {results} = {}, {expected}, {new};", place(at))
        }
        StmtKind::Swap {
            target,
            place: at,
            value,
        } => format!("swap {} = {}, {};", target.text, place(at), expr(value)),
        StmtKind::Add {
            target,
            place: at,
            value,
        } => format!("add {} = {}, {};", target.text, place(at), expr(value)),
        StmtKind::Fence(kind) => words(*kind).to_string(),
        StmtKind::Assign { target, value } => format!("{} = {};", target.text, expr(value)),
        StmtKind::AssignCell {
            target,
            index,
            value,
        } => format!("{}[{}] = {};", target.text, expr(index), expr(value)),
        StmtKind::Await(condition) => format!("await ({});", expr(condition)),
        StmtKind::Havoc { target, range: of } => {
            let of = of.as_ref().map(|of| format!(" in {}", range(of)));
            format!("havoc {}{};", target.text, of.unwrap_or_default())
        }
        StmtKind::Skip => "skip;".to_string(),
        StmtKind::Goto(label) => format!("goto {};", label.text),
        StmtKind::Break => "break;".to_string(),
        StmtKind::Continue => "continue;".to_string(),
        StmtKind::Stop => "stop;".to_string(),
        StmtKind::Assume(condition) => format!("assume({});", expr(condition)),
        StmtKind::Assert(condition) => format!("assert({});", expr(condition)),
        _ => return None,
    })
}

fn declaration(declaration: &Declaration) -> String {
    let variables = declaration.variables.iter().map(|variable| {
        let mut text = variable.name.text.clone();
        if let Some(len) = &variable.len {
            let _ = write!(text, "{}", expr::index(len));
        }
        match &variable.init {
            None => {}
            Some(Init::Any(_)) => text.push_str(" = *"),
            Some(Init::Value(value)) => {
                let _ = write!(text, " = {}", expr(value));
            }
            Some(Init::Cells(cells, _)) => {
                let cells: Vec<String> = cells.iter().map(expr).collect();
                let _ = write!(text, " = {{{}}}", cells.join(", "));
            }
        }
        text
    });
    let variables: Vec<String> = variables.collect();
    let ty = match &declaration.ty {
        Type::Bool => "bool".to_string(),
        Type::Int => "int".to_string(),
        Type::Integer => "integer".to_string(),
        Type::Ranged(values) => format!("int[{}]", range(values)),
    };
    format!("{ty} {};", variables.join(", "))
}

fn range(range: &Range) -> String {
    format!("{}..={}", expr(&range.low), expr(&range.high))
}

fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Expr(tested) => expr(tested),
        Condition::Any(_) => "*".to_string(),
    }
}

fn place(place: &Place) -> String {
    match &place.index {
        None => place.name.text.clone(),
        Some(index) => format!("{}{}", place.name.text, expr::index(index)),
    }
}

fn property(property: &Property) -> String {
    match &property.predicate {
        Predicate::TwoAt(label) => format!("{} {};", property.kind, label.text),
        Predicate::Expr(predicate) => format!("{} {};", property.kind, expr(predicate)),
    }
}
