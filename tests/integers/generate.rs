//! Random programs with integers.

use fencesmith_testing::random::Random;
use std::fmt::Write;

/// What a program may have.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub loops: bool,
    /// Sums of two integers, and negations.
    pub octagons: bool,
    /// Mostly stores and loads, of two variables.
    pub accesses: bool,
    /// Statements of each process, at most.
    pub statements: usize,
}

/// The text of a program.
pub fn program(seed: u64, shape: Shape) -> String {
    let mut text = Text {
        random: Random(seed),
        shape,
        out: String::new(),
        left: 0,
    };
    text.program();
    text.out
}

struct Text {
    random: Random,
    shape: Shape,
    out: String,
    /// Statements that may still be written.
    left: usize,
}

impl Text {
    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.out, "{}{line}", "    ".repeat(depth));
    }

    fn program(&mut self) {
        let initial = self.random.between(-1, 1);
        self.line(0, &format!("shared integer x = {initial}, y, a[2];"));
        self.line(0, "shared bool f;");
        for process in ["p", "q"] {
            self.line(0, &format!("process {process} {{"));
            self.line(1, "integer r, s;");
            self.line(1, "bool ok;");
            self.line(1, "int[0..=2] b;");
            self.left = 1 + self.random.below(self.shape.statements);
            while self.left > 0 {
                self.statement(1);
            }
            self.line(0, "}");
        }
        for _ in 0..=self.random.below(2) {
            let kind = self.random.pick(&["forbid", "invariant", "final", "final"]);
            let predicate = self.predicate();
            self.line(0, &format!("{kind} {predicate};"));
        }
    }

    fn statement(&mut self, depth: usize) {
        self.left = self.left.saturating_sub(1);
        let (place, value) = (self.place(), self.value());
        let local = self.random.pick(&["r", "s"]);
        let small = self.random.between(-1, 2);
        let kind = match self.shape.accesses && self.random.chance(80) {
            true => self.random.below(9),
            false => self.random.below(23),
        };
        match kind {
            0..=4 => self.line(depth, &format!("store {place} = {value};")),
            5..=8 => self.line(depth, &format!("load {local} = {place};")),
            9..=10 => self.line(depth, &format!("{local} = {value};")),
            11 => {
                let expected = self.value();
                self.line(depth, &format!("cas ok = {place}, {expected}, {value};"));
            }
            12 => self.line(depth, &format!("swap {local} = {place}, {value};")),
            13 => self.line(depth, &format!("add {local} = {place}, {small};")),
            14 => {
                let low = self.random.pick(&["0", "r", "s", "-1"]);
                self.line(depth, &format!("havoc {local} in {low}..={low} + 1;"));
            }
            15 => {
                let fence = self.random.pick(&["fence", "fence ss", "fence sl"]);
                self.line(depth, &format!("{fence};"));
            }
            16 => {
                let test = self.condition();
                self.line(depth, &format!("assert({test});"));
            }
            17 => {
                let test = self.condition();
                let change = self.random.pick(&["ok = ", "assume("]);
                let end = if change == "ok = " { ";" } else { ");" };
                self.line(depth, &format!("{change}{test}{end}"));
            }
            18 => {
                let first =
                    self.random
                        .pick(&["", "assert(b != 1);", "ok = false;", "assert(r < 1);"]);
                let body = format!(
                    "atomic {{ {first} load r = {place}; assume(r > {small}); store {place} = r + 1; }}"
                );
                self.line(depth, &body);
            }
            19 => {
                let text =
                    self.random
                        .pick(&["store f = true;", "load ok = f;", "b = (b + 1) % 3;"]);
                self.line(depth, text);
            }
            20 if self.shape.loops && depth < 3 => {
                let test = match self.random.chance(50) {
                    true => "*".to_string(),
                    false => self.condition(),
                };
                self.line(depth, &format!("while ({test}) {{"));
                self.statement(depth + 1);
                self.statement(depth + 1);
                self.line(depth, "}");
            }
            _ => {
                let test = self.condition();
                self.line(depth, &format!("if ({test}) {{"));
                self.statement(depth + 1);
                if self.random.chance(50) {
                    self.line(depth, "} else {");
                    self.statement(depth + 1);
                }
                self.line(depth, "}");
            }
        }
    }

    fn place(&mut self) -> String {
        let kinds = if self.shape.accesses { 6 } else { 8 };
        match self.random.below(kinds) {
            0..=2 => "x".to_string(),
            3..=5 => "y".to_string(),
            6 => format!("a[{}]", self.random.pick(&["0", "1", "b % 2"])),
            _ => format!("a[{}]", self.random.pick(&["0", "1", "r", "s + 1"])),
        }
    }

    /// An integer.
    fn value(&mut self) -> String {
        let number = self.random.between(-1, 2);
        match self.random.below(9) {
            0..=2 => number.to_string(),
            3..=4 => self.random.pick(&["r", "s"]).to_string(),
            5 => format!("r + {}", number.abs()),
            6 => format!("s - {}", number.abs()),
            7 if self.shape.octagons => self.random.pick(&["-r", "1 - s", "-s - 1"]).to_string(),
            7 => self
                .random
                .pick(&["r + b", "r + 2 / b", "1 % b"])
                .to_string(),
            _ => "(ok ? r : s + 1)".to_string(),
        }
    }

    fn condition(&mut self) -> String {
        let one = self.comparison("r", "s");
        match self.random.below(6) {
            0 => format!("{one} && ok"),
            1 => format!("b == 1 || {one}"),
            2 => {
                let other = self.comparison("s", "r");
                let sign = self.random.pick(&["&&", "||"]);
                format!("{one} {sign} {other}")
            }
            3 => format!("!({one})"),
            _ => one,
        }
    }

    fn comparison(&mut self, left: &str, right: &str) -> String {
        let sign = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let number = self.random.between(-1, 2);
        match self.random.below(6) {
            0..=1 => format!("{left} {sign} {number}"),
            2 => format!("{left} {sign} {right}"),
            3 => format!("{left} {sign} {right} + {}", number.abs()),
            4 if self.shape.octagons => format!("{left} + {right} {sign} {number}"),
            _ => format!("{left} - {right} {sign} {number}"),
        }
    }

    fn predicate(&mut self) -> String {
        let seen = ["x", "y", "a[0]", "p.r", "q.r", "q.s", "a[1]"];
        let (left, right) = (self.random.pick(&seen), self.random.pick(&seen));
        let one = self.comparison(left, right);
        match self.random.below(4) {
            0 => format!("{one} && q.ok"),
            1 => {
                let other = self.comparison(right, "y");
                format!("{one} || {other}")
            }
            _ => one,
        }
    }
}
