//! The automaton of one process while it is built.

use crate::program::{
    Domain, Edge, EdgeId, Expr, Fault, FenceSite, Initial, Instr, Loc, Local, LocalId, Location,
    Value,
};
use crate::source::Span;

/// Locations and edges so far, and where the next edge begins.
#[derive(Debug, Clone)]
pub struct Code {
    pub locations: Vec<Location>,
    pub edges: Vec<Edge>,
    /// For each location, where a fence can be typed to stand there.
    pub sites: Vec<Vec<FenceSite>>,
    pub locals: Vec<Local>,
    pub at: Loc,
    pub exit: Loc,
    /// Temporaries that the current statement does not use.
    free: Vec<LocalId>,
    /// Temporaries that it uses.
    used: Vec<LocalId>,
}

impl Code {
    pub fn new() -> Code {
        let mut code = Code {
            locations: Vec::new(),
            edges: Vec::new(),
            sites: Vec::new(),
            locals: Vec::new(),
            at: Loc(0),
            exit: Loc(1),
            free: Vec::new(),
            used: Vec::new(),
        };
        code.location();
        code.location();
        code
    }

    pub fn location(&mut self) -> Loc {
        self.locations.push(Location::default());
        self.sites.push(Vec::new());
        Loc(self.locations.len() as u32 - 1)
    }

    /// Adds an edge between two locations.
    pub fn edge(&mut self, from: Loc, to: Loc, instr: Instr, span: Span) -> EdgeId {
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
        id
    }

    /// Adds an edge and goes on behind it.
    pub fn emit(&mut self, instr: Instr, span: Span) -> EdgeId {
        let to = self.location();
        let id = self.edge(self.at, to, instr, span);
        self.at = to;
        id
    }

    /// Goes on at a location.
    pub fn pass_to(&mut self, to: Loc, span: Span) {
        self.edge(self.at, to, Instr::Pass, span);
        self.at = to;
    }

    /// Jumps; what comes next is not reached from here.
    pub fn jump(&mut self, to: Loc, span: Span) {
        self.edge(self.at, to, Instr::Pass, span);
        self.at = self.location();
    }

    pub fn local(&mut self, name: &str, domain: Domain, initial: Value) -> LocalId {
        self.locals.push(Local {
            name: name.to_string(),
            domain,
            initial: Initial::Value(initial),
            visible: false,
        });
        LocalId(self.locals.len() as u32 - 1)
    }

    /// A temporary for the current statement.
    pub fn temporary(&mut self, domain: Domain) -> LocalId {
        let fits = |id: &LocalId| self.locals[id.index()].domain == domain;
        let found = self.free.iter().position(fits);
        let id = match found {
            Some(at) => self.free.swap_remove(at),
            None => {
                let name = format!("%{}", self.locals.len());
                self.local(&name, domain, 0)
            }
        };
        self.used.push(id);
        id
    }

    /// The temporaries in use, to be handed to [`Code::release`].
    pub fn mark(&self) -> usize {
        self.used.len()
    }

    /// Gives back the temporaries that came after a mark.
    pub fn release(&mut self, mark: usize) {
        self.free.extend(self.used.drain(mark..));
    }

    pub fn assign(&mut self, local: LocalId, value: Expr<LocalId>, span: Span) {
        self.emit(Instr::Assign { local, value }, span);
    }

    /// Fails by a fault unless the condition holds.
    pub fn require(&mut self, condition: Expr<LocalId>, fault: Fault, span: Span) {
        if condition.constant().is_none_or(|value| value == 0) {
            let fault = Some(fault);
            self.emit(Instr::Assert { condition, fault }, span);
        }
    }

    /// Tests a condition and goes on at one of two locations.
    pub fn branch(&mut self, condition: Expr<LocalId>, yes: Loc, no: Loc, span: Span) {
        match condition.constant() {
            Some(0) => self.edge(self.at, no, Instr::Pass, span),
            Some(_) => self.edge(self.at, yes, Instr::Pass, span),
            None => {
                let guard = |wanted| Instr::Guard {
                    condition: condition.clone(),
                    wanted,
                };
                self.edge(self.at, yes, guard(true), span);
                self.edge(self.at, no, guard(false), span)
            }
        };
    }
}
