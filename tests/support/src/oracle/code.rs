//! Flattens the body of a process into a list of instructions with marks and jumps.

use fencesmith::lang::ast::{Block, Condition, ExprKind, Member, Name, Stmt, StmtKind};
use fencesmith::source::Span;
use std::collections::BTreeSet;

/// One element of the flat code. Only `Step` and `Test` take a step when executed.
#[derive(Debug, Clone)]
pub enum Code {
    Mark(Mark),
    /// A statement without control flow; the next element follows it.
    Step(Stmt),
    /// A test; `start` is where its `if`, `while` or `do` begins.
    Test {
        start: u32,
        condition: Condition,
        yes: Mark,
        no: Mark,
    },
    Jump(Mark),
    Choice(Vec<Mark>),
    End,
}

/// A position that can be jumped to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    Label(String),
    Fresh(usize),
}

/// What a process may do from a position, once everything that takes no step is resolved.
#[derive(Debug, Clone, Default)]
pub struct Ready {
    /// The labels that hold.
    pub at: BTreeSet<String>,
    /// The elements that may be executed next.
    pub next: BTreeSet<usize>,
    /// Some way leads to the end without a step.
    pub may_end: bool,
}

impl Ready {
    /// Every way leads to the end without a step.
    pub fn has_stopped(&self) -> bool {
        self.may_end && self.next.is_empty()
    }
}

/// The code of a process body; element 0 is its start, the last element is an `End`. Also how many
/// locals without a name in the text it uses.
pub fn flatten(body: &Block) -> (Vec<Code>, usize) {
    let mut flattener = Flattener {
        code: Vec::new(),
        fresh: 0,
        hidden: 0,
        loops: Vec::new(),
    };
    flattener.block(body);
    flattener.code.push(Code::End);
    (flattener.code, flattener.hidden)
}

/// How a local without a name is called.
pub fn hidden_name(number: usize) -> String {
    format!("%{number}")
}

/// The element that a jump to `mark` continues with: the first of the run of marks around
/// it. All marks of a run stand at one position, so all their labels hold there.
pub fn position(code: &[Code], mark: &Mark) -> usize {
    let mut at = code
        .iter()
        .position(|element| matches!(element, Code::Mark(m) if m == mark))
        .unwrap_or_else(|| panic!("a jump to {mark:?}, which is nowhere"));
    while at > 0 && matches!(code[at - 1], Code::Mark(_)) {
        at -= 1;
    }
    at
}

/// Follows marks, jumps and choices from `start` to the instructions behind them.
pub fn ready(code: &[Code], start: usize) -> Ready {
    let mut ready = Ready::default();
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        match &code[at] {
            Code::Mark(mark) => {
                if let Mark::Label(label) = mark {
                    ready.at.insert(label.clone());
                }
                open.push(at + 1);
            }
            Code::Jump(mark) => open.push(position(code, mark)),
            Code::Choice(marks) => open.extend(marks.iter().map(|mark| position(code, mark))),
            Code::End => ready.may_end = true,
            Code::Step(_) | Code::Test { .. } => {
                ready.next.insert(at);
            }
        }
    }
    if ready.has_stopped() {
        ready.at.clear();
    }
    ready
}

pub(super) struct Flattener {
    code: Vec<Code>,
    fresh: usize,
    hidden: usize,
    /// Where `continue` and `break` go, innermost loop last.
    loops: Vec<(Mark, Mark)>,
}

impl Flattener {
    pub(super) fn fresh(&mut self) -> Mark {
        self.fresh += 1;
        Mark::Fresh(self.fresh)
    }

    pub(super) fn mark(&mut self, mark: &Mark) {
        self.code.push(Code::Mark(mark.clone()));
    }

    pub(super) fn jump(&mut self, mark: &Mark) {
        self.code.push(Code::Jump(mark.clone()));
    }

    /// A test of a literal, as in `while (true)`, is none: it takes no step.
    pub(super) fn test(&mut self, statement: &Stmt, condition: &Condition, yes: &Mark, no: &Mark) {
        if let Condition::Expr(expr) = condition {
            match expr.kind {
                ExprKind::Bool(true) => return self.jump(yes),
                ExprKind::Bool(false) | ExprKind::Int(0) => return self.jump(no),
                ExprKind::Int(_) => return self.jump(yes),
                _ => {}
            }
        }
        self.code.push(Code::Test {
            start: statement.span.start,
            condition: condition.clone(),
            yes: yes.clone(),
            no: no.clone(),
        });
    }

    /// A local that has no name in the text.
    pub(super) fn hidden(&mut self) -> Name {
        self.hidden += 1;
        Name {
            text: hidden_name(self.hidden - 1),
            span: Span::new(0, 0),
        }
    }

    /// A step that is part of a statement.
    pub(super) fn step(&mut self, statement: &Stmt, kind: StmtKind) {
        let span = statement.span;
        self.code.push(Code::Step(Stmt { kind, span }));
    }

    /// Runs the body of a loop in which `again` is where `continue` leads.
    pub(super) fn round(&mut self, body: &Stmt, again: &Mark, exit: &Mark) {
        self.loops.push((again.clone(), exit.clone()));
        self.statement(body);
        self.loops.pop();
    }

    fn block(&mut self, block: &Block) {
        for member in &block.members {
            if let Member::Statement(statement) = member {
                self.statement(statement);
            }
        }
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Labelled { label, statement } => {
                self.mark(&Mark::Label(label.text.clone()));
                self.statement(statement);
            }
            StmtKind::For {
                variable,
                range,
                body,
                ..
            } => self.count(statement, variable, range, body),
            StmtKind::Repeat { count, body, .. } => self.repeat(statement, count, body),
            StmtKind::Await(condition) => self.wait(statement, condition),
            StmtKind::Cas { old: Some(_), .. } => self.compare_and_swap(statement),
            StmtKind::AssignCell { .. } => panic!("the oracle knows no arrays of processes"),
            StmtKind::Store { .. }
            | StmtKind::Load { .. }
            | StmtKind::Cas { .. }
            | StmtKind::Swap { .. }
            | StmtKind::Add { .. }
            | StmtKind::Fence(_)
            | StmtKind::Assign { .. }
            | StmtKind::Havoc { .. }
            | StmtKind::Skip
            | StmtKind::Assume(_)
            | StmtKind::Assert(_)
            | StmtKind::Atomic(_) => self.code.push(Code::Step(statement.clone())),
            StmtKind::Goto(label) => self.jump(&Mark::Label(label.text.clone())),
            StmtKind::Break => {
                let (_, exit) = self.loops.last().expect("break in a loop").clone();
                self.jump(&exit);
            }
            StmtKind::Continue => {
                let (again, _) = self.loops.last().expect("continue in a loop").clone();
                self.jump(&again);
            }
            StmtKind::Stop => self.code.push(Code::End),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let (yes, no, after) = (self.fresh(), self.fresh(), self.fresh());
                self.test(statement, condition, &yes, &no);
                self.mark(&yes);
                self.statement(then);
                self.jump(&after);
                self.mark(&no);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
                self.jump(&after);
                self.mark(&after);
            }
            StmtKind::While { condition, body } => {
                let (head, inside, exit) = (self.fresh(), self.fresh(), self.fresh());
                self.mark(&head);
                self.test(statement, condition, &inside, &exit);
                self.mark(&inside);
                self.loops.push((head.clone(), exit.clone()));
                self.statement(body);
                self.loops.pop();
                self.jump(&head);
                self.mark(&exit);
            }
            StmtKind::DoWhile { body, condition } => {
                let (head, again, exit) = (self.fresh(), self.fresh(), self.fresh());
                self.mark(&head);
                self.loops.push((again.clone(), exit.clone()));
                self.statement(body);
                self.loops.pop();
                self.jump(&again);
                self.mark(&again);
                self.test(statement, condition, &head, &exit);
                self.mark(&exit);
            }
            StmtKind::Either(branches) => {
                let after = self.fresh();
                let starts: Vec<Mark> = branches.iter().map(|_| self.fresh()).collect();
                self.code.push(Code::Choice(starts.clone()));
                for (branch, start) in branches.iter().zip(&starts) {
                    self.mark(start);
                    self.block(branch);
                    self.jump(&after);
                }
                self.mark(&after);
            }
            StmtKind::Nofence(block) | StmtKind::Block(block) | StmtKind::Expanded(block) => {
                self.block(block);
            }
        }
    }
}
