//! Random expressions and properties.

use super::{Generator, Variable};

impl Generator {
    pub fn local(&mut self) -> Variable {
        let locals = self.current().locals.clone();
        self.random.pick(&locals)
    }

    /// A local that can take the values of `variable`, if there is one; now and then any.
    pub fn local_for(&mut self, variable: &Variable) -> String {
        let locals = self.current().locals.clone();
        let fitting: Vec<Variable> = locals
            .into_iter()
            .filter(|local| local.low <= variable.low && variable.high <= local.high)
            .collect();
        if fitting.is_empty() || self.random.chance(5) {
            self.local().name
        } else {
            self.random.pick(&fitting).name
        }
    }

    /// A local other than this one.
    pub fn other_local(&mut self, name: &str) -> Option<String> {
        let locals = self.current().locals.iter();
        let mut others = locals.filter(|local| local.name != name);
        others.next().map(|local| local.name.clone())
    }

    pub fn place(&mut self) -> (Variable, String) {
        let shared = self.shared.clone();
        let variable = self.random.pick(&shared);
        if !variable.array {
            let name = variable.name.clone();
            return (variable, name);
        }
        let local = self.local().name;
        let index = match self.random.below(20) {
            0 => local,
            1..=4 => format!("{local} % 2"),
            5..=12 if self.current().template => self.random.pick(&["i", "1 - i"]).to_string(),
            _ => self.random.pick(&["0", "1"]).to_string(),
        };
        let text = format!("{}[{index}]", variable.name);
        (variable, text)
    }

    /// An expression whose value, nearly always, is in the range of `target`.
    pub fn value(&mut self, target: &Variable) -> String {
        let local = self.local();
        let name = local.name.clone();
        let template = self.current().template;
        let size = target.high + 1;
        match self.random.below(40) {
            0 if !target.unbounded => self.random.pick(&[
                format!("{name} + 1"),
                format!("2 / {name}"),
                format!("-{name}"),
                format!("{name} * {name} - 1"),
            ]),
            1..=5 => format!("({name} + {}) % {size}", self.random.between(0, 2)),
            6 => format!("({name} << {}) % {size}", self.random.between(0, 2)),
            7 => {
                let op = self.random.pick(&["&", "|", "^", ">>"]);
                format!("({name} {op} {}) % {size}", self.random.between(0, 3))
            }
            8 => format!("(~{name} & {})", self.random.between(0, 1)),
            9..=14 if !local.unbounded && target.low <= local.low && local.high <= target.high => {
                name
            }
            15 | 16 => {
                let (yes, no) = (self.constant(target), self.constant(target));
                format!("{} ? {yes} : {no}", self.predicate(1))
            }
            17..=22 if template => self.random.pick(&["i", "1 - i"]).to_string(),
            _ => self.constant(target),
        }
    }

    /// Stores of zero show little, so they are rarer.
    fn constant(&mut self, target: &Variable) -> String {
        match self.random.below(10) {
            0 | 1 if target.high == 1 && target.low == 0 => {
                self.random.pick(&["true", "false"]).to_string()
            }
            2..=6 => self.random.between(1, target.high).to_string(),
            _ => self.random.between(target.low, target.high).to_string(),
        }
    }

    pub fn condition(&mut self) -> String {
        if self.random.chance(10) {
            "*".to_string()
        } else {
            self.predicate(2)
        }
    }

    /// A condition on locals that is neither always true nor always false.
    pub fn predicate(&mut self, depth: usize) -> String {
        let local = self.local();
        let name = local.name.clone();
        let other = self.local().name;
        let constant = self.random.between(local.low, local.high);
        match self.random.below(60) {
            0 => format!("(2 / {name} == {constant})"),
            1..=5 => name,
            6..=10 => format!("!{name}"),
            11..=14 => format!("({name} < {constant})"),
            15..=18 => format!("({name} >= {constant})"),
            19..=24 if other != name => format!("({name} == {other})"),
            25..=34 if depth > 0 => {
                let op = self.random.pick(&["&&", "||"]);
                let (left, right) = (self.predicate(depth - 1), self.predicate(depth - 1));
                format!("({left} {op} {right})")
            }
            35..=44 => format!("({name} != {constant})"),
            _ => format!("({name} == {constant})"),
        }
    }

    /// Something that should not be, and usually is not so at the start.
    pub fn property(&mut self) {
        let kind = self.random.below(4);
        // Once every process has stopped, none is at a label.
        let positions = kind != 0;
        let mut atoms = vec![self.atom(positions, 1)];
        for _ in 0..self.random.between(1, 3) {
            let least = self.random.between(-1, 1);
            atoms.push(self.atom(positions, least));
        }
        let text = match kind {
            0 => format!("final !({});", atoms.join(" && ")),
            1 | 2 => format!("forbid {};", atoms.join(" && ")),
            _ => format!("invariant !({});", atoms.join(") || !(")),
        };
        self.line(0, &text);
    }

    /// A condition on memory, a local or the position of a process; where it speaks of a
    /// value, the value is at least `least`.
    fn atom(&mut self, positions: bool, least: i64) -> String {
        let processes = self.processes.clone();
        let process = self.random.pick(&processes);
        let mut name = process.name.clone();
        if process.template {
            name = format!("{name}[{}]", self.random.below(2));
        }
        match self.random.below(6) {
            0..=2 => {
                let local = self.random.pick(&process.locals);
                let value = self.random.between(local.low.max(least), local.high);
                format!("{name}.{} == {value}", local.name)
            }
            3 if positions && !process.labels.is_empty() => {
                let label = self.random.pick(&process.labels);
                if process.template && self.random.chance(30) {
                    name = process.name.clone();
                }
                format!("{name} at {label}")
            }
            _ => {
                let shared = self.shared.clone();
                let variable = self.random.pick(&shared);
                let value = self.random.between(variable.low.max(least), variable.high);
                let mut name = variable.name.clone();
                if variable.array {
                    name = format!("{name}[{}]", self.random.below(2));
                }
                let op = match least {
                    1 => "==",
                    _ => self.random.pick(&["==", "==", "!=", "<="]),
                };
                format!("{name} {op} {value}")
            }
        }
    }
}
