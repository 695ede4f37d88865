//! One process to its automaton.
//!
//! Every gap between two statements becomes a location, joined to its surroundings by
//! passing edges; gaps that turn out to be one control position are merged at the end.

use super::sugar::flat_index;
use super::{Scope, fresh_label};
use crate::lang::ast::{self, Block, Condition, ExprKind, Member, Stmt, StmtKind};
use crate::program::{
    BinaryOp, Edge, EdgeId, Expr, FenceSite, Initial, Instr, Loc, Local, LocalId, Location, Merged,
    PlaceRef, Process, Side, Update, back_edges, merge,
};
use crate::source::Span;
use std::collections::{HashMap, HashSet};

/// Where the labels of a process stand.
pub type Labels = HashMap<String, Loc>;

/// One instance, lowered.
pub struct Automaton {
    pub process: Process,
    /// For each location, where a fence can be typed to stand there.
    pub sites: Vec<Vec<FenceSite>>,
    /// Where a fence can be typed, but control never comes.
    pub unreachable: Vec<FenceSite>,
    pub labels: Labels,
    /// Whether it has copies of the bodies of macros.
    pub copies: bool,
}

/// The automaton of one instance. Positions of labels in `named` are visible: they stay
/// apart from everything else.
pub fn automaton(
    item: &ast::Process,
    scope: &Scope,
    named: &HashSet<String>,
    template: usize,
    stores: &mut u32,
) -> Automaton {
    let mut builder = Builder {
        scope,
        named,
        stores,
        locations: Vec::new(),
        edges: Vec::new(),
        sites: Vec::new(),
        labels: HashMap::new(),
        body: None,
        loops: Vec::new(),
        nofence: false,
        copies: false,
        hidden: 0,
        exit: Loc(0),
    };
    let entry = builder.location();
    builder.exit = builder.location();
    let own = scope.own.as_ref().expect("a process has names");
    let (instance, chooses) = (own.instance, own.template.chooses);
    let begin = match chooses {
        true => builder.choices(&instance.locals, entry, item.name.span),
        false => entry,
    };
    builder.block(&item.body, begin, builder.exit);

    let mut process = Process {
        name: match instance.parameter {
            Some(value) => format!("{}[{value}]", item.name.text),
            None => item.name.text.clone(),
        },
        template,
        locals: instance
            .locals
            .iter()
            .map(|local| Local {
                name: local.name.clone(),
                domain: local.domain,
                initial: match local.initial {
                    Initial::Any if chooses => Initial::Value(local.domain.low),
                    initial => initial,
                },
                visible: false,
            })
            .collect(),
        locations: builder.locations,
        edges: builder.edges,
        entry,
        exit: builder.exit,
    };
    let mut labels = builder.labels;
    let Merged {
        moved,
        sites,
        unreachable,
    } = merge(&mut process, builder.sites, builder.copies);
    back_edges(&mut process);
    for at in labels.values_mut() {
        *at = moved[at.index()];
    }
    Automaton {
        process,
        sites,
        unreachable,
        labels,
        copies: builder.copies,
    }
}

pub(super) struct Builder<'a> {
    pub(super) scope: &'a Scope<'a>,
    named: &'a HashSet<String>,
    stores: &'a mut u32,
    locations: Vec<Location>,
    edges: Vec<Edge>,
    /// For each location, where a fence can be typed to stand there.
    sites: Vec<Vec<FenceSite>>,
    labels: Labels,
    /// The brace-less body that the current statement is, if it is one.
    body: Option<Span>,
    /// For each enclosing loop, where `break` and `continue` lead.
    pub(super) loops: Vec<(Loc, Loc)>,
    nofence: bool,
    /// A macro has been called.
    copies: bool,
    /// How many hidden locals have been taken.
    pub(super) hidden: usize,
    exit: Loc,
}

impl Builder<'_> {
    pub(super) fn location(&mut self) -> Loc {
        self.locations.push(Location::default());
        self.sites.push(Vec::new());
        Loc(self.locations.len() as u32 - 1)
    }

    pub(super) fn edge(&mut self, from: Loc, to: Loc, instr: Instr, span: Span) {
        let id = EdgeId(self.edges.len() as u32);
        self.locations[from.index()].out.push(id);
        self.edges.push(Edge {
            from,
            to,
            instr,
            span,
            origin: id,
            back: false,
            fusable: false,
        });
    }

    fn pass(&mut self, from: Loc, to: Loc, span: Span) {
        self.edge(from, to, Instr::Pass, span);
    }

    fn visible(&self, at: Loc) -> bool {
        self.locations[at.index()].visible
    }

    fn site(&mut self, at: Loc, side: Side, statement: Span) {
        if !self.nofence && !self.visible(at) {
            self.sites[at.index()].push(FenceSite {
                side,
                statement,
                body: self.body,
            });
        }
    }

    fn block(&mut self, block: &Block, from: Loc, to: Loc) {
        let outer = self.body.take();
        let statements: Vec<&Stmt> = block
            .members
            .iter()
            .filter_map(|member| match member {
                Member::Statement(statement) => Some(statement),
                Member::Locals(_) => None,
            })
            .collect();
        self.sequence(&statements, block.span, from, to);
        self.body = outer;
    }

    /// The body of an `if` or loop: a block, or a single statement that counts as one.
    pub(super) fn body(&mut self, statement: &Stmt, from: Loc, to: Loc) {
        if let StmtKind::Block(block) = &statement.kind {
            self.block(block, from, to);
        } else {
            let outer = self.body.replace(statement.span);
            self.sequence(&[statement], statement.span, from, to);
            self.body = outer;
        }
    }

    /// Statements with a gap before, between and after them. A sequence that starts at a
    /// visible position has no gap there: a fence would move the label.
    fn sequence(&mut self, statements: &[&Stmt], span: Span, from: Loc, to: Loc) {
        let mut gap = from;
        if !self.visible(from) {
            gap = self.location();
            self.pass(from, gap, span);
        }
        if statements.is_empty() {
            self.site(gap, Side::Inside, span);
        }
        for statement in statements {
            self.site(gap, Side::Before, statement.span);
            let next = self.location();
            self.statement(statement, gap, next);
            self.site(next, Side::After, statement.span);
            gap = next;
        }
        self.pass(gap, to, span);
    }

    /// Emits one statement that starts at `from` and ends at `to`.
    fn statement(&mut self, statement: &Stmt, from: Loc, to: Loc) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Labelled { label, statement } => {
                self.labelled(&label.text, statement, span, from, to);
            }
            StmtKind::Goto(label) => {
                let target = self.jump_target(&label.text);
                self.pass(from, target, span);
            }
            StmtKind::Break => {
                let (target, _) = *self.loops.last().expect("checked to be in a loop");
                self.pass(from, target, span);
            }
            StmtKind::Continue => {
                let (_, target) = *self.loops.last().expect("checked to be in a loop");
                self.pass(from, target, span);
            }
            StmtKind::Stop => self.pass(from, self.exit, span),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let inside = self.location();
                let from = self.checked_test(condition, from);
                self.test(condition, true, from, inside);
                self.body(then, inside, to);
                match otherwise {
                    None => self.test(condition, false, from, to),
                    Some(otherwise) => {
                        let inside = self.location();
                        self.test(condition, false, from, inside);
                        self.body(otherwise, inside, to);
                    }
                }
            }
            StmtKind::While { condition, body } => {
                let head = self.head(from, span);
                let inside = self.location();
                let test = self.checked_test(condition, head);
                self.test(condition, true, test, inside);
                self.loops.push((to, head));
                self.body(body, inside, head);
                self.loops.pop();
                self.test(condition, false, test, to);
            }
            StmtKind::DoWhile { body, condition } => {
                let head = self.head(from, span);
                let test = self.location();
                self.loops.push((to, test));
                self.body(body, head, test);
                self.loops.pop();
                let test = self.checked_test(condition, test);
                self.test(condition, true, test, head);
                self.test(condition, false, test, to);
            }
            StmtKind::For {
                variable,
                range,
                head,
                body,
            } => self.count((variable, range), body, *head, from, to),
            StmtKind::Repeat { count, head, body } => self.repeat(count, body, *head, from, to),
            StmtKind::Await(condition) => self.wait(condition, span, from, to),
            StmtKind::Expanded(block) => {
                self.copies = true;
                let loops = std::mem::take(&mut self.loops);
                self.block(block, from, to);
                self.loops = loops;
            }
            StmtKind::Either(branches) => {
                for branch in branches {
                    let inside = self.location();
                    self.pass(from, inside, branch.span);
                    self.block(branch, inside, to);
                }
            }
            StmtKind::Nofence(block) => {
                let outer = std::mem::replace(&mut self.nofence, true);
                self.block(block, from, to);
                self.nofence = outer;
            }
            StmtKind::Block(block) => self.block(block, from, to),
            StmtKind::Atomic(block) => {
                let members = block.members.iter();
                let statements = members.filter_map(|member| match member {
                    Member::Statement(statement) => Some(statement),
                    Member::Locals(_) => None,
                });
                let mut body = Vec::new();
                for statement in statements {
                    let instrs = self.instrs(statement).into_iter();
                    body.extend(instrs.map(|instr| (instr, statement.span)));
                }
                self.edge(from, to, Instr::Atomic(body), span);
            }
            _ => {
                let instrs = self.instrs(statement);
                let last = instrs.len() - 1;
                let mut at = from;
                for (index, instr) in instrs.into_iter().enumerate() {
                    let next = if index == last { to } else { self.location() };
                    self.edge(at, next, instr, span);
                    at = next;
                }
            }
        }
    }

    /// `L: s`. If a property names L, its position is the start of `s` itself; otherwise
    /// there is one more gap, between the label and `s`, that every jump to L passes.
    fn labelled(&mut self, label: &str, statement: &Stmt, span: Span, from: Loc, to: Loc) {
        let mut at = from;
        if !self.visible(from) {
            at = self.location();
            self.pass(from, at, span);
            self.locations[at.index()].visible = self.named.contains(label);
            self.site(at, Side::Before, statement.span);
        }
        let target = self.jump_target(label);
        self.pass(target, at, span);
        self.statement(statement, at, to);
    }

    /// Where jumps to a label go; it passes on to the label's position.
    fn jump_target(&mut self, label: &str) -> Loc {
        match self.labels.get(label) {
            Some(&at) => at,
            None => {
                let at = self.location();
                self.labels.insert(label.to_string(), at);
                at
            }
        }
    }

    /// The position where a loop starts over: a label on the loop holds there.
    pub(super) fn head(&mut self, from: Loc, span: Span) -> Loc {
        if self.visible(from) {
            return from;
        }
        let head = self.location();
        self.pass(from, head, span);
        head
    }

    /// The way out of a test for one outcome; a literal condition is no test at all.
    fn test(&mut self, condition: &Condition, wanted: bool, from: Loc, to: Loc) {
        let (expr, span) = match condition {
            Condition::Any(span) => {
                let condition = Expr::Const(wanted.into());
                let instr = Instr::Guard { condition, wanted };
                return self.edge(from, to, instr, *span);
            }
            Condition::Expr(expr) => (expr, expr.span),
        };
        let literal = match expr.kind {
            ExprKind::Bool(value) => Some(value),
            ExprKind::Int(value) => Some(value != 0),
            _ => None,
        };
        match literal {
            Some(value) if value == wanted => self.pass(from, to, span),
            Some(_) => {}
            None => {
                let condition = self.scope.expr(expr);
                self.edge(from, to, Instr::Guard { condition, wanted }, span);
            }
        }
    }

    /// The instruction of a simple statement.
    pub(super) fn instr(&mut self, statement: &Stmt) -> Instr {
        let expr = |e: &ast::Expr| self.scope.expr(e);
        match &statement.kind {
            StmtKind::Store { place, value } => Instr::Store {
                place: self.place(place),
                value: expr(value),
                label: fresh_label(self.stores),
            },
            StmtKind::Load { target, place } => Instr::Load {
                local: self.local(&target.text),
                place: self.place(place),
            },
            StmtKind::Cas {
                target,
                old: _,
                place,
                expected,
                new,
            } => {
                let (expected, new) = (expr(expected), expr(new));
                self.update(target, place, Update::Cas { expected, new })
            }
            StmtKind::Swap {
                target,
                place,
                value,
            } => self.update(target, place, Update::Swap(expr(value))),
            StmtKind::Add {
                target,
                place,
                value,
            } => {
                let (_, variable) = self.scope.shared(&place.name.text);
                let add = match variable.domain.is_unbounded() {
                    true => BinaryOp::AddIntegers,
                    false => BinaryOp::Add,
                };
                self.update(target, place, Update::Apply(add, expr(value)))
            }
            StmtKind::Fence(kind) => Instr::Fence(*kind),
            StmtKind::Assign { target, value } => Instr::Assign {
                local: self.local(&target.text),
                value: expr(value),
            },
            StmtKind::Havoc { target, range } => {
                let local = self.local(&target.text);
                let own = self.scope.own.as_ref().expect("a process has names");
                let domain = own.instance.locals[local.index()].domain;
                let (low, high) = match range {
                    None => (Expr::Const(domain.low), Expr::Const(domain.high)),
                    Some(range) => (expr(&range.low), expr(&range.high)),
                };
                Instr::Havoc { local, low, high }
            }
            StmtKind::Skip => Instr::Skip,
            StmtKind::Assume(condition) => Instr::Guard {
                condition: expr(condition),
                wanted: true,
            },
            StmtKind::Assert(condition) => Instr::Assert {
                condition: expr(condition),
                fault: None,
            },
            other => unreachable!("not a simple statement: {other:?}"),
        }
    }

    pub(super) fn update(&self, target: &ast::Name, place: &ast::Place, op: Update) -> Instr {
        Instr::Update {
            local: self.local(&target.text),
            place: self.place(place),
            op,
            waits: true,
        }
    }

    pub(super) fn local(&self, name: &str) -> LocalId {
        self.scope.local(name).expect("locals were checked")
    }

    pub(super) fn place(&self, place: &ast::Place) -> PlaceRef {
        let (first, variable) = self.scope.shared(&place.name.text);
        match (&place.index, variable.len) {
            (Some(index), Some(len)) => PlaceRef::Cell {
                first,
                len,
                index: flat_index(index, variable, &|part| self.scope.expr(part)),
            },
            _ => PlaceRef::Scalar(first),
        }
    }
}
