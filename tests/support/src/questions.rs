//! Small random programs with many questions about each: a body without properties, and properties
//! that are asked one at a time.

use crate::random::Random;

/// What the bodies are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Two to four processes without loops.
    Straight,
    /// A writer that never waits, and readers that see what it wrote in some order.
    Streams,
    /// Processes that go round loops.
    Loops,
}

/// A program without properties, and the properties to ask about.
#[derive(Debug, Clone)]
pub struct Questions {
    pub body: String,
    pub properties: Vec<String>,
}

impl Questions {
    /// The program with all properties.
    pub fn with_all(&self) -> String {
        format!("{}{}\n", self.body, self.properties.join("\n"))
    }

    /// The program with one of them.
    pub fn with(&self, property: usize) -> String {
        format!("{}{}\n", self.body, self.properties[property])
    }
}

const NAMES: [&str; 4] = ["p", "q", "v", "w"];

struct Writer {
    random: Random,
    /// The largest value of a place.
    most: i64,
    third: bool,
    /// Weights of atomics, of fences and of what may fail.
    atomics: usize,
    fences: usize,
    failures: usize,
    /// Statements may have labels.
    may_label: bool,
    /// By process, the labels that were written.
    labels: Vec<Vec<String>>,
}

/// The questions of a seed.
pub fn questions(seed: u64, shape: Shape) -> Questions {
    let mut random = Random(
        seed.wrapping_mul(0xd134_2543_de82_ef95)
            .wrapping_add(shape as u64),
    );
    let mut writer = Writer {
        most: random.between(1, 2),
        third: random.chance(30),
        atomics: random.pick(&[0, 0, 4, 12]),
        fences: random.pick(&[0, 4, 12, 24]),
        failures: usize::from(random.chance(10)),
        may_label: true,
        labels: Vec::new(),
        random,
    };
    let body = match shape {
        Shape::Straight => writer.straight(),
        Shape::Streams => writer.streams(),
        Shape::Loops => writer.loops(),
    };
    let count = writer.random.between(5, 9);
    let mut properties: Vec<String> = (0..count).map(|_| writer.property()).collect();
    properties.sort();
    properties.dedup();
    Questions { body, properties }
}

impl Writer {
    fn declarations(&mut self) -> String {
        let most = self.most;
        let mut text = format!("shared int[0..={most}] x, y, a[2];\n");
        if self.third {
            let start = self.random.pick(&["", " = 1", " = *"]);
            text += &format!("shared int[0..={most}] z{start};\n");
        }
        text
    }

    fn process(&mut self, body: &str) -> String {
        let name = NAMES[self.labels.len() - 1];
        format!("process {name} {{\n    int[0..=2] r, s;\n{body}    end: skip;\n}}\n")
    }

    fn straight(&mut self) -> String {
        let mut text = self.declarations();
        let processes = self.random.between(2, 4) as usize;
        for _ in 0..processes {
            self.labels.push(vec!["end".to_string()]);
            let most = [0, 0, 5, 4, 3][processes];
            let mut body = String::new();
            for _ in 0..self.random.between(1, most) {
                body += &self.line();
            }
            text += &self.process(&body);
        }
        text
    }

    fn loops(&mut self) -> String {
        let mut text = self.declarations();
        let processes = self.random.between(2, 3) as usize;
        for _ in 0..processes {
            self.labels.push(vec!["end".to_string()]);
            let mut body = String::new();
            for _ in 0..self.random.between(0, 1) {
                body += &self.line();
            }
            let mut inner = String::new();
            for _ in 0..self.random.between(1, if processes == 2 { 4 } else { 2 }) {
                inner += &self.line();
            }
            body += &match self.random.below(5) {
                0 => inner,
                1 => format!("    do {{\n{inner}    }} while (r == 1);\n"),
                2 => format!("    while (true) {{\n{inner}    }}\n"),
                _ => format!("    while (*) {{\n{inner}    }}\n"),
            };
            for _ in 0..self.random.between(0, 1) {
                body += &self.line();
            }
            text += &self.process(&body);
        }
        text
    }

    fn streams(&mut self) -> String {
        let mut text = self.declarations();
        self.labels.push(vec!["end".to_string()]);
        let mut inner = String::new();
        let copies = self.random.pick(&[1, 1, 3]);
        self.may_label = copies == 1;
        for _ in 0..self.random.between(1, 4) {
            let store = [
                "store x = r;",
                "store y = r;",
                "store x = 1;",
                "store x = 0;",
                "store y = 1;",
                "store a[0] = r;",
                "r = 1 - r % 2;",
                "r = 1 - r % 2;",
                "load s = y;",
                "if (s == 1) r = 0;",
            ];
            inner += &match self.random.chance(80) {
                true => format!("    {}\n", self.random.pick(&store)),
                false => self.line(),
            };
        }
        self.may_label = true;
        let body = match self.random.below(2) {
            _ if copies > 1 => inner.repeat(copies),
            0 => format!("    while (true) {{\n{inner}    }}\n"),
            _ => format!("    do {{\n{inner}    }} while (*);\n"),
        };
        text += &self.process(&body);
        for _ in 0..self.random.between(1, 2) {
            self.labels.push(vec!["end".to_string()]);
            let mut body = String::new();
            for _ in 0..self.random.between(2, 4) {
                let load = [
                    "load r = x;",
                    "load s = x;",
                    "load r = y;",
                    "load s = y;",
                    "load r = a[0];",
                    "assume (r == 1);",
                    "assume (s == 0);",
                ];
                body += &match self.random.chance(85) {
                    true => format!("    {}\n", self.random.pick(&load)),
                    false => self.line(),
                };
            }
            text += &self.process(&body);
        }
        text
    }

    fn place(&mut self) -> &'static str {
        let last = if self.third { "z" } else { "x" };
        self.random
            .pick(&["x", "x", "x", "y", "y", "y", last, "a[0]", "a[r % 2]"])
    }

    fn value(&mut self) -> String {
        match self.random.below(8) {
            0 => "r % 2".to_string(),
            1 => "s % 2".to_string(),
            2 => "0".to_string(),
            _ => self.random.between(1, self.most).to_string(),
        }
    }

    /// A statement, perhaps with a label or under a condition.
    fn line(&mut self) -> String {
        let mut statement = self.statement();
        if self.random.chance(12) {
            let condition = self.random.pick(&["r == 1", "s == 0", "r == s", "*"]);
            statement = format!("if ({condition}) {{ {statement} }}");
        } else if self.random.chance(4) {
            let other = self.statement();
            statement = format!("either {{ {statement} }} or {{ {other} }}");
        }
        if self.may_label && self.random.chance(25) {
            let labels = self.labels.last_mut().expect("a process is being written");
            let label = format!("L{}", labels.len());
            statement = format!("{label}: {statement}");
            labels.push(label);
        }
        format!("    {statement}\n")
    }

    fn statement(&mut self) -> String {
        let (place, value) = (self.place(), self.value());
        let local = self.random.pick(&["r", "s"]);
        let kind = self.random.weighted(&[
            (30, 0),
            (30, 1),
            (3, 2),
            (self.fences, 3),
            (self.fences / 3, 4),
            (self.fences / 3, 5),
            (self.atomics, 6),
            (3, 7),
            (self.failures * 4, 8),
        ]);
        match kind {
            0 => format!("store {place} = {value};"),
            1 => format!("load {local} = {place};"),
            2 => format!("{local} = {value};"),
            3 => self
                .random
                .pick(&["fence;", "fence ss;", "fence sl;"])
                .to_string(),
            4 => "fence ss;".to_string(),
            5 => "fence sl;".to_string(),
            6 => match self.random.below(4) {
                0 => format!("cas {local} = {place}, {}, {value};", self.value()),
                1 => format!("swap {local} = {place}, {value};"),
                2 => format!("add {local} = {place}, 0;"),
                _ => {
                    let other = self.place();
                    format!("atomic {{ load {local} = {other}; store {place} = {value}; }}")
                }
            },
            7 => self
                .random
                .pick(&["havoc s in 0..=1;", "skip;", "assume (r == 0 || s == 1);"])
                .to_string(),
            _ => {
                let ways = [
                    format!("assert ({local} == 0);"),
                    format!("add {local} = {place}, 1;"),
                    format!("store a[{local} + 1] = 1;"),
                    format!("{local} = 1 / {local};"),
                ];
                self.random.pick(&ways)
            }
        }
    }

    /// A property that tells few states from the others.
    fn property(&mut self) -> String {
        let processes = self.labels.len();
        let mut atoms = Vec::new();
        let mut names: Vec<usize> = (0..processes).collect();
        if processes > 2 {
            names.remove(self.random.below(processes));
        }
        let kind = self.random.below(10);
        for at in names {
            let name = NAMES[at];
            let local = self.random.pick(&["r", "s"]);
            let value = self.random.between(0, self.most);
            match self.random.below(4) {
                0 => {
                    let label = self.random.pick(&self.labels[at].clone());
                    atoms.push(format!("{name} at {label}"));
                }
                1 => {
                    let label = self.random.pick(&self.labels[at].clone());
                    atoms.push(format!("{name} at {label} && {name}.{local} == {value}"));
                }
                2 => atoms.push(format!("{name}.{local} == {value}")),
                _ => atoms.push(format!("{name}.r == {value} && {name}.s != {value}")),
            }
        }
        if kind < 6 && self.random.chance(75) {
            let place = self.random.pick(&["x", "x", "y", "a[0]"]);
            let value = self.random.between(0, self.most);
            atoms.push(format!("{place} == {value}"));
            if self.random.chance(30) {
                atoms.push(format!("y == {}", self.random.between(0, self.most)));
            }
        }
        let all = atoms.join(" && ");
        match kind {
            0 => format!("invariant !({all});"),
            1..=3 => format!("forbid {all};"),
            4..=6 => {
                // Labels do not hold where processes have stopped.
                let all: Vec<&str> = all
                    .split(" && ")
                    .filter(|atom| !atom.contains(" at "))
                    .collect();
                match all.is_empty() {
                    true => "final x == 0;".to_string(),
                    false => format!("final !({});", all.join(" && ")),
                }
            }
            7 => "mutex end;".to_string(),
            _ => format!("forbid {all};"),
        }
    }
}
