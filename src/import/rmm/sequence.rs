//! Statements of machines in the native language.

use super::location::Known;
use super::translate::{Text, World};
use super::tree::{How, Kind, Location, Statement};
use crate::diagnostic::Diagnostic;
use crate::import::build;
use crate::lang::ast::{Block, Condition, Expr, ExprKind, Member, Stmt, StmtKind};
use crate::lang::diagnostics::Diagnostics;
use crate::program;
use crate::program::{BinaryOp, Domain, FenceKind};
use crate::source::Span;

/// The code of one process on its way to the native language.
pub struct Body<'b, 'm> {
    pub(super) text: &'b Text<'m>,
    pub(super) world: &'b World<'m>,
    diagnostics: &'b mut Diagnostics,
    /// The values that the scratch local takes.
    scratch: Option<Domain>,
}

impl<'b, 'm> Body<'b, 'm> {
    pub fn new(text: &'b Text<'m>, world: &'b World<'m>, diagnostics: &'b mut Diagnostics) -> Self {
        Body {
            text,
            world,
            diagnostics,
            scratch: None,
        }
    }

    /// The domain that the scratch local needs, if it is used.
    pub fn scratch_domain(&self) -> Option<Domain> {
        self.scratch
    }

    /// Statements in a row.
    pub fn statements(&mut self, body: &[Statement]) -> Vec<Stmt> {
        let groups = body.chunk_by(|one, next| one.span.start == next.span.start);
        groups.map(|group| self.group(group)).collect()
    }

    /// A statement, or several that begin at one place: these come from one macro call, in
    /// which no fence can be typed.
    fn group(&mut self, group: &[Statement]) -> Stmt {
        let (first, rest) = match group {
            [only] => return self.statement(only),
            [first, rest @ ..] => (first, rest),
            [] => unreachable!("groups are not empty"),
        };
        let span = group.iter().map(|s| s.span).fold(first.span, Span::to);
        let outside = first.label.as_ref();
        let outside = outside.filter(|(_, at)| at.start != first.span.start);
        let mut inside = vec![match outside {
            None => self.statement(first),
            Some(_) => self.unlabelled(first),
        }];
        inside.extend(rest.iter().map(|statement| self.statement(statement)));
        let block = build::one(inside, span);
        match outside {
            None => block,
            Some((label, at)) => build::labelled(&self.text.labels[label.as_str()].0, *at, block),
        }
    }

    fn statement(&mut self, statement: &Statement) -> Stmt {
        let native = self.unlabelled(statement);
        match &statement.label {
            None => native,
            Some((label, span)) => {
                let name = &self.text.labels[label.as_str()].0;
                let mut labelled = build::labelled(name, *span, native);
                if labelled.span.start == statement.span.start {
                    // Label and statement come from one macro call.
                    let block = build::block(vec![labelled], statement.span);
                    labelled = build::stmt(StmtKind::Nofence(block), statement.span);
                }
                labelled
            }
        }
    }

    /// A statement without its label.
    fn unlabelled(&mut self, statement: &Statement) -> Stmt {
        let native = self.translated(statement);
        // Parts that begin at one place come from one macro call.
        let mut starts = Vec::new();
        collect_starts(&native, &mut starts);
        starts.sort_unstable();
        match starts.windows(2).any(|pair| pair[0] == pair[1]) {
            false => native,
            true => {
                let span = native.span;
                build::stmt(StmtKind::Nofence(build::block(vec![native], span)), span)
            }
        }
    }

    fn translated(&mut self, statement: &Statement) -> Stmt {
        let span = statement.span;
        let kind = match &statement.kind {
            Kind::Nop | Kind::Fence(None) => StmtKind::Skip,
            Kind::Fence(Some(kind)) => StmtKind::Fence(*kind),
            Kind::Read {
                register,
                from,
                how,
            } => {
                let Some((target, domain)) = self.register(register) else {
                    return skip(span);
                };
                return self.at(from, span, |body, known| {
                    body.read(known, (&target, domain), *how, span)
                });
            }
            Kind::Await { from, value, how } => {
                let value = self.expr(value);
                return self.at(from, span, |body, known| {
                    body.wait(known, &value, *how, span)
                });
            }
            Kind::Write { to, value, how } => {
                let value = self.expr(value);
                return self.at(to, span, |body, known| {
                    body.write(known, &value, *how, span)
                });
            }
            Kind::Cas { at, old, new } => {
                let (old, new) = (self.expr(old), self.expr(new));
                return self.at(at, span, |body, known| {
                    let mut inside = body.found(known, &old, span);
                    inside.extend(body.stored(known, &new, span));
                    vec![atomic(inside, span)]
                });
            }
            Kind::Locked(branches) => return self.locked(branches, span),
            Kind::Assign { register, value } => {
                let Some((target, domain)) = self.register(register) else {
                    return skip(span);
                };
                let value = self.expr(value);
                let mut statements = self.guard(&value, domain, span);
                statements.push(build::assign(&target, value, span));
                return build::one(statements, span);
            }
            Kind::Assume(condition) => StmtKind::Assume(self.expr(condition)),
            Kind::If {
                condition,
                then,
                otherwise,
            } => StmtKind::If {
                condition: Condition::Expr(self.expr(condition)),
                then: Box::new(self.statement(then)),
                otherwise: otherwise.as_ref().map(|s| Box::new(self.statement(s))),
            },
            Kind::While { condition, body } => StmtKind::While {
                condition: Condition::Expr(self.expr(condition)),
                body: Box::new(self.statement(body)),
            },
            Kind::Goto(label, at) => match self.text.labels.get(label.as_str()) {
                Some((native, _)) => StmtKind::Goto(build::name(native, *at)),
                None => {
                    self.wrong(*at, format!("unknown label '{label}'"));
                    StmtKind::Skip
                }
            },
            Kind::Either(branches) => {
                let branches = branches.iter().map(|branch| {
                    let statements = self.statements(branch);
                    build::block(statements, span)
                });
                return choice(branches.collect(), span);
            }
            Kind::Block(body) => StmtKind::Block(build::block(self.statements(body), span)),
        };
        build::stmt(kind, span)
    }

    pub(super) fn wrong(&mut self, span: Span, message: String) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    /// The local that a register is, and its domain.
    fn register(&mut self, (name, span): &(String, Span)) -> Option<(String, Domain)> {
        let known = self.text.registers.get(name.as_str()).cloned();
        if known.is_none() {
            self.wrong(*span, format!("unknown register '${name}'"));
        }
        known
    }

    /// The expression over locals.
    pub(super) fn expr(&mut self, expr: &Expr) -> Expr {
        let kind = match &expr.kind {
            ExprKind::Name(name) => {
                let register = (name.clone(), expr.span);
                let native = self.register(&register);
                ExprKind::Name(native.map_or_else(|| name.clone(), |(native, _)| native))
            }
            ExprKind::Unary { op, operand } => ExprKind::Unary {
                op: *op,
                operand: Box::new(self.expr(operand)),
            },
            ExprKind::Binary { op, left, right } => ExprKind::Binary {
                op: *op,
                left: Box::new(self.expr(left)),
                right: Box::new(self.expr(right)),
            },
            other => other.clone(),
        };
        build::expr(kind, expr.span)
    }

    /// The values an expression can have; none if it can leave 32 bits.
    pub(super) fn interval(&self, expr: &Expr) -> Option<Domain> {
        let registers = self.text.registers.values();
        let registers: Vec<&(String, Domain)> = registers.collect();
        let lowered = expr.lowered(&|kind| {
            let ExprKind::Name(name) = kind else {
                unreachable!("expressions of machines have no other leaves");
            };
            let domain = registers.iter().find(|(native, _)| native == name);
            program::Expr::Atom(domain.map_or(Domain::INT, |(_, domain)| *domain))
        });
        lowered.interval(&|domain| *domain)
    }

    /// Waits for ever if the value lies outside the domain.
    fn guard(&self, value: &Expr, domain: Domain, span: Span) -> Vec<Stmt> {
        let inside = |values: Domain| covers(domain, values);
        match domain == Domain::INT || self.interval(value).is_some_and(inside) {
            true => Vec::new(),
            false => vec![build::assume(build::within(value.clone(), domain), span)],
        }
    }

    /// The scratch local, which will hold values of a domain.
    fn scratch(&mut self, domain: Domain, span: Span) -> Expr {
        let old = self.scratch.unwrap_or(Domain { low: 0, high: 0 });
        self.scratch = Some(Domain {
            low: old.low.min(domain.low),
            high: old.high.max(domain.high),
        });
        build::var(&self.text.scratch, span)
    }

    fn read(
        &mut self,
        known: &Known,
        (target, domain): (&str, Domain),
        how: How,
        span: Span,
    ) -> Vec<Stmt> {
        if covers(domain, known.domain) {
            return vec![load(target, known, how, span)];
        }
        let found = self.scratch(known.domain, span);
        let wait = build::not(build::within(found.clone(), domain));
        vec![
            self.repeat(known, wait, how, span),
            build::assign(target, found, span),
        ]
    }

    fn wait(&mut self, known: &Known, value: &Expr, how: How, span: Span) -> Vec<Stmt> {
        let found = self.scratch(known.domain, span);
        let wait = build::binary(BinaryOp::NotEqual, found, value.clone());
        // A block of one statement, so that no fence can stand inside.
        let repeat = self.repeat(known, wait, how, span);
        vec![build::stmt(
            StmtKind::Nofence(build::block(vec![repeat], span)),
            span,
        )]
    }

    /// Loads into the scratch local while a condition holds.
    fn repeat(&self, known: &Known, condition: Expr, how: How, span: Span) -> Stmt {
        let load = load(&self.text.scratch, known, how, span);
        let kind = StmtKind::DoWhile {
            body: Box::new(load),
            condition: Condition::Expr(condition),
        };
        build::stmt(kind, span)
    }

    fn write(&mut self, known: &Known, value: &Expr, how: How, span: Span) -> Vec<Stmt> {
        let stored = self.stored(known, value, span);
        match how {
            How::Plain => stored,
            How::Locked => vec![atomic(stored, span)],
            How::Synchronised => {
                self.scratch(known.domain, span);
                let mut statements = self.guard(value, known.domain, span);
                let (place, value) = (known.place.clone(), value.clone());
                statements.push(build::swap(&self.text.scratch, place, value, span));
                statements
            }
            How::StoreStore => {
                let fence = || build::stmt(StmtKind::Fence(FenceKind::StoreStore), span);
                let mut statements = stored;
                let store = statements.len() - 1;
                statements.insert(store, fence());
                statements.push(fence());
                statements
            }
        }
    }

    /// A store, blocked if the value lies outside the domain.
    fn stored(&mut self, known: &Known, value: &Expr, span: Span) -> Vec<Stmt> {
        let mut statements = self.guard(value, known.domain, span);
        statements.push(build::store(known.place.clone(), value.clone(), span));
        statements
    }

    /// A load that must find a value, inside an atomic block.
    fn found(&mut self, known: &Known, value: &Expr, span: Span) -> Vec<Stmt> {
        let found = self.scratch(known.domain, span);
        let equal = build::binary(BinaryOp::Equal, found, value.clone());
        vec![
            build::load(&self.text.scratch, known.place.clone(), span),
            build::assume(equal, span),
        ]
    }

    /// `locked{ … or … }`: one of several atomic blocks.
    fn locked(&mut self, branches: &[Vec<Statement>], span: Span) -> Stmt {
        if !branches.iter().any(|branch| writes(branch)) {
            let message = "a locked block that writes nothing is not supported".to_string();
            self.diagnostics.push(
                Diagnostic::error(span, message)
                    .help("without a write it does not wait for the buffers; leave `locked` out"),
            );
            return skip(span);
        }
        let mut blocks = Vec::new();
        for branch in branches {
            let mut inside = Vec::new();
            for statement in branch {
                self.inside(statement, &mut inside);
            }
            blocks.push(build::block(vec![atomic(inside, span)], span));
        }
        if let [only] = &mut blocks[..]
            && let Some(Member::Statement(only)) = only.members.pop()
        {
            return only;
        }
        let either = choice(blocks, span);
        build::stmt(StmtKind::Nofence(build::block(vec![either], span)), span)
    }

    /// A statement inside a locked block.
    fn inside(&mut self, statement: &Statement, out: &mut Vec<Stmt>) {
        let span = statement.span;
        if let Some((label, at)) = &statement.label {
            let message = format!("the label '{label}' cannot stand in a locked block");
            self.wrong(*at, message);
        }
        match &statement.kind {
            Kind::Nop | Kind::Fence(_) => {}
            Kind::Block(body) => body.iter().for_each(|s| self.inside(s, out)),
            Kind::Assume(condition) => out.push(build::assume(self.expr(condition), span)),
            Kind::Assign { .. } => match self.unlabelled(statement) {
                Stmt {
                    kind: StmtKind::Nofence(block),
                    ..
                } => out.extend(block.members.into_iter().filter_map(|m| match m {
                    Member::Statement(statement) => Some(statement),
                    Member::Locals(_) => None,
                })),
                assign => out.push(assign),
            },
            Kind::Read { register, from, .. } => {
                let (Some((target, domain)), Some(known)) =
                    (self.register(register), self.only(from))
                else {
                    return;
                };
                if covers(domain, known.domain) {
                    return out.push(build::load(&target, known.place, span));
                }
                let found = self.scratch(known.domain, span);
                out.push(build::load(&self.text.scratch, known.place, span));
                out.push(build::assume(build::within(found.clone(), domain), span));
                out.push(build::assign(&target, found, span));
            }
            Kind::Await { from, value, .. } => {
                if let Some(known) = self.only(from) {
                    let value = self.expr(value);
                    out.extend(self.found(&known, &value, span));
                }
            }
            Kind::Write {
                to,
                value,
                how: How::Plain | How::Synchronised,
            } => {
                if let Some(known) = self.only(to) {
                    let value = self.expr(value);
                    out.extend(self.stored(&known, &value, span));
                }
            }
            _ => {
                let message = "this statement cannot stand in a locked block".to_string();
                self.wrong(span, message);
            }
        }
    }

    /// A statement on a location: one branch for each that a pointer can mean.
    fn at(
        &mut self,
        location: &Location,
        span: Span,
        each: impl Fn(&mut Self, &Known) -> Vec<Stmt>,
    ) -> Stmt {
        let known = self.locations(location);
        if let [only] = &known[..]
            && only.guard.is_none()
        {
            return build::one(each(self, only), span);
        }
        let mut branches = Vec::new();
        for known in &known {
            let mut statements = Vec::new();
            statements.extend(known.guard.clone().map(|guard| build::assume(guard, span)));
            statements.extend(each(self, known));
            branches.push(build::block(statements, span));
        }
        let either = choice(branches, span);
        build::stmt(StmtKind::Nofence(build::block(vec![either], span)), span)
    }
}

/// Every value of the second domain lies in the first.
fn covers(domain: Domain, values: Domain) -> bool {
    domain.contains(values.low) && domain.contains(values.high)
}

/// Where the statements begin between which fences can be typed.
fn collect_starts(statement: &Stmt, out: &mut Vec<u32>) {
    out.push(statement.span.start);
    let mut inside = |block: &Block| {
        for member in &block.members {
            if let Member::Statement(statement) = member {
                collect_starts(statement, out);
            }
        }
    };
    match &statement.kind {
        StmtKind::Labelled { statement, .. } => collect_starts(statement, out),
        StmtKind::If {
            then, otherwise, ..
        } => {
            collect_starts(then, out);
            if let Some(otherwise) = otherwise {
                collect_starts(otherwise, out);
            }
        }
        StmtKind::While { body, .. } => collect_starts(body, out),
        StmtKind::Either(branches) => branches.iter().for_each(inside),
        StmtKind::Block(block) => inside(block),
        _ => {}
    }
}

fn skip(span: Span) -> Stmt {
    build::stmt(StmtKind::Skip, span)
}

fn load(target: &str, known: &Known, how: How, span: Span) -> Stmt {
    match how {
        How::Synchronised => build::load_from_memory(target, known.place.clone(), span),
        _ => build::load(target, known.place.clone(), span),
    }
}

fn atomic(statements: Vec<Stmt>, span: Span) -> Stmt {
    build::stmt(StmtKind::Atomic(build::block(statements, span)), span)
}

/// One of several blocks.
fn choice(branches: Vec<Block>, span: Span) -> Stmt {
    let mut branches = branches;
    match branches.len() {
        1 => build::stmt(StmtKind::Block(branches.remove(0)), span),
        _ => build::stmt(StmtKind::Either(branches), span),
    }
}

/// Whether some statement writes.
fn writes(body: &[Statement]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        Kind::Write { .. } => true,
        Kind::Block(body) => writes(body),
        _ => false,
    })
}
