//! Random small programs, as text. The same seed and options give the same program.

mod expressions;
mod themes;

use crate::random::Random;
use themes::{THEMES, Theme};

/// What a program may contain.
#[derive(Debug, Clone)]
pub struct Options {
    /// No branches, loops, choices or jumps.
    pub straight_line: bool,
    /// `fence ss` and `fence sl`.
    pub with_ss_sl: bool,
    /// Stores in a row, each followed by `fence ss` or `fence sl`.
    pub with_chains: bool,
    /// `cas`, `swap`, `add` and `atomic`.
    pub with_atomics: bool,
    /// `while`, `do` and jumps backwards.
    pub with_loops: bool,
    /// Two or three.
    pub max_processes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            straight_line: false,
            with_ss_sl: true,
            with_chains: false,
            with_atomics: true,
            with_loops: true,
            max_processes: 3,
        }
    }
}

/// A program that is well-formed. Faults, failed assertions, deadlocks and endless loops
/// occur, but not often; labels stand only on statements that take a step or choose one,
/// never on jumps and never at the start of a branch of `either`.
pub fn program(seed: u64, options: &Options) -> String {
    let mut generator = Generator {
        random: Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)),
        options: options.clone(),
        has_const: false,
        theme: None,
        shared: Vec::new(),
        processes: Vec::new(),
        out: String::new(),
    };
    generator.program();
    generator.out
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Store,
    Load,
    Cas,
    CasOld,
    Swap,
    Add,
    Atomic,
    Await,
    For,
    Repeat,
    Fence,
    HalfFence,
    Chain,
    Assign,
    Havoc,
    Skip,
    Assume,
    Assert,
    If,
    While,
    Do,
    Either,
    Nofence,
    Block,
    Goto,
    Leave,
}

#[derive(Clone)]
struct Variable {
    name: String,
    low: i64,
    high: i64,
    /// Two cells.
    array: bool,
    /// Declared as `int`: bounded only by what is assigned to it.
    unbounded: bool,
}

/// A process that has been written, or is being written.
#[derive(Clone)]
struct Written {
    name: String,
    template: bool,
    locals: Vec<Variable>,
    labels: Vec<String>,
    /// Statements that may still be written.
    budget: usize,
    /// A jump to the label `out` was written.
    leaves: bool,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Context {
    depth: usize,
    in_loop: bool,
    /// A label or a jump may stand here.
    free: bool,
}

struct Generator {
    random: Random,
    options: Options,
    has_const: bool,
    theme: Option<Theme>,
    shared: Vec<Variable>,
    processes: Vec<Written>,
    out: String,
}

impl Generator {
    fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&"    ".repeat(depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn program(&mut self) {
        self.has_const = self.random.chance(15);
        if self.has_const {
            self.line(0, "const N = 2;");
        }
        if self.random.chance(45) {
            let straight = self.options.straight_line || !self.options.with_loops;
            let themes = THEMES
                .iter()
                .filter(|theme| theme.straight_line || !straight);
            let themes: Vec<Theme> = themes.copied().collect();
            self.theme = Some(self.random.pick(&themes));
        }
        self.shared_variables();
        let three = self.options.max_processes > 2 && self.random.chance(25);
        let instances = if three { 3 } else { 2 };
        let critical = self.theme.is_none() && self.random.chance(30);
        let mut written = 0;
        while written < instances {
            let fixed = self.theme.is_some() && self.processes.len() < 2;
            let template = !fixed && written + 2 <= instances && self.random.chance(25);
            let name = ["p", "q", "w"][self.processes.len()];
            self.process(name, template, instances, critical);
            written += if template { 2 } else { 1 };
        }
        if critical {
            self.line(0, "mutex cs;");
        }
        if let Some(theme) = self.theme {
            self.line(0, theme.property);
        }
        let least = if critical || self.theme.is_some() {
            0
        } else {
            1
        };
        for _ in 0..self.random.between(least, least + 1) {
            self.property();
        }
    }

    fn variable(&mut self, name: &str) -> Variable {
        let (low, high) = self
            .random
            .pick(&[(0, 1), (0, 1), (0, 1), (0, 2), (0, 2), (-1, 1)]);
        Variable {
            name: name.to_string(),
            low,
            high,
            array: false,
            unbounded: false,
        }
    }

    fn type_of(&mut self, variable: &Variable) -> String {
        match (variable.low, variable.high) {
            _ if variable.unbounded => "int".to_string(),
            (0, 1) if self.random.chance(70) => "bool".to_string(),
            (low, 2) if self.has_const => format!("int[{low}..=N]"),
            (low, high) => format!("int[{low}..={high}]"),
        }
    }

    fn initialiser(&mut self, variable: &Variable) -> String {
        match self.random.below(20) {
            0 if !variable.unbounded => " = *".to_string(),
            1 | 2 => format!(" = {}", self.random.between(variable.low, variable.high)),
            3 | 4 if variable.array => format!(
                " = {{{}, {}}}",
                self.random.between(variable.low, variable.high),
                self.random.between(variable.low, variable.high)
            ),
            _ => String::new(),
        }
    }

    fn shared_variables(&mut self) {
        let count = self.random.between(2, 3) as usize;
        for name in &["x", "y", "z"][..count] {
            let mut variable = self.variable(name);
            let themed = self.theme.is_some() && *name != "z";
            variable.array = !themed && self.random.chance(15);
            let ty = self.type_of(&variable);
            let cells = if variable.array { "[2]" } else { "" };
            let init = match themed {
                true => String::new(),
                false => self.initialiser(&variable),
            };
            self.line(0, &format!("shared {ty} {name}{cells}{init};"));
            self.shared.push(variable);
        }
    }

    fn process(&mut self, name: &str, template: bool, instances: usize, critical: bool) {
        let lines = match self.theme {
            Some(theme) if self.processes.len() < 2 => theme.lines[self.processes.len()],
            _ => &[],
        };
        let (least, most) = match (lines.len(), instances) {
            (0, 2) => (3, 7),
            (0, _) => (2, 4),
            (_, 2) => (0, 3),
            _ => (0, 1),
        };
        self.processes.push(Written {
            name: name.to_string(),
            template,
            locals: Vec::new(),
            labels: Vec::new(),
            budget: self.random.between(least, most) as usize,
            leaves: false,
        });
        let parameter = if template { "[i in 0..=1]" } else { "" };
        self.line(0, &format!("process {name}{parameter} {{"));
        self.locals(!lines.is_empty());
        let context = Context {
            depth: 1,
            in_loop: false,
            free: true,
        };
        let fenced = self.random.chance(25);
        for line in lines {
            while self.current().budget > 0 && self.random.chance(35) {
                self.between(context);
            }
            self.line(1, line);
            if fenced && line.starts_with("store") {
                self.line(1, "fence;");
            }
        }
        if critical {
            // Somewhere among the statements.
            let before = self.random.below(self.processes.last().unwrap().budget + 1);
            self.current().budget -= before;
            let after = std::mem::replace(&mut self.current().budget, before);
            self.statements(context);
            self.current().labels.push("cs".to_string());
            self.line(1, "cs: skip;");
            self.current().budget = after;
        }
        self.statements(context);
        if self.current().leaves {
            self.line(1, "out: skip;");
        }
        self.line(0, "}");
    }

    fn locals(&mut self, themed: bool) {
        let count = if themed { 2 } else { self.random.between(1, 2) };
        for local in &["r", "s"][..count as usize] {
            let mut variable = self.variable(local);
            if self.random.chance(15) {
                (variable.low, variable.high) = (0, 2);
                variable.unbounded = true;
            } else if themed || self.random.chance(70) {
                // Wide enough for every load.
                variable.low = self.shared.iter().map(|shared| shared.low).min().unwrap();
                variable.high = self.shared.iter().map(|shared| shared.high).max().unwrap();
            }
            let ty = self.type_of(&variable);
            let init = match themed {
                true => String::new(),
                false => self.initialiser(&variable),
            };
            self.line(1, &format!("{ty} {local}{init};"));
            self.current().locals.push(variable);
        }
    }

    /// Something between the lines of a theme: often a fence.
    fn between(&mut self, context: Context) {
        if self.random.chance(60) {
            self.statement(context);
        } else {
            self.current().budget -= 1;
            let half = self.options.with_ss_sl && self.random.chance(70);
            let kind = if half { Kind::HalfFence } else { Kind::Fence };
            let text = self.simple(kind);
            self.line(1, &text);
        }
    }

    fn current(&mut self) -> &mut Written {
        self.processes
            .last_mut()
            .expect("a process is being written")
    }

    /// Statements until the budget of the process is used up.
    fn statements(&mut self, context: Context) {
        while self.current().budget > 0 {
            self.statement(context);
        }
    }

    /// A block's worth of statements: at least one, at most two.
    fn body(&mut self, context: Context) {
        self.statement(context);
        if self.current().budget > 0 && self.random.chance(50) {
            let context = Context {
                free: true,
                ..context
            };
            self.statement(context);
        }
    }

    fn statement(&mut self, context: Context) {
        self.current().budget = self.current().budget.saturating_sub(1);
        let kind = self.kind(context);
        let jumps = matches!(kind, Kind::Goto | Kind::Leave);
        let mut label = String::new();
        if context.free && !jumps && self.random.chance(12) {
            let name = format!("L{}", self.current().labels.len());
            label = format!("{name}: ");
            self.current().labels.push(name);
        }
        let inner = Context {
            depth: context.depth + 1,
            ..context
        };
        match kind {
            Kind::If => {
                let condition = self.condition();
                self.line(context.depth, &format!("{label}if ({condition}) {{"));
                self.body(inner);
                if self.random.chance(40) {
                    self.line(context.depth, "} else {");
                    self.body(inner);
                }
                self.line(context.depth, "}");
            }
            Kind::While => {
                let condition = self.condition();
                let inner = Context {
                    in_loop: true,
                    ..inner
                };
                if self.random.chance(10) {
                    self.line(context.depth, &format!("{label}while ({condition}) skip;"));
                } else {
                    self.line(context.depth, &format!("{label}while ({condition}) {{"));
                    self.body(inner);
                    self.line(context.depth, "}");
                }
            }
            Kind::Do => {
                let inner = Context {
                    in_loop: true,
                    ..inner
                };
                self.line(context.depth, &format!("{label}do {{"));
                self.body(inner);
                let condition = self.condition();
                self.line(context.depth, &format!("}} while ({condition});"));
            }
            Kind::For | Kind::Repeat => {
                let head = match kind {
                    Kind::For => {
                        let local = self.local();
                        let (low, high) = (local.low, local.high);
                        let low = self.random.pick(&[low.to_string(), "1".to_string()]);
                        format!("for ({} in {low}..={high})", local.name)
                    }
                    _ => format!("repeat ({})", self.random.between(0, 2)),
                };
                let inner = Context {
                    in_loop: true,
                    ..inner
                };
                self.line(context.depth, &format!("{label}{head} {{"));
                self.body(inner);
                self.line(context.depth, "}");
            }
            Kind::Either => {
                let inner = Context {
                    free: false,
                    ..inner
                };
                self.line(context.depth, &format!("{label}either {{"));
                self.body(inner);
                self.line(context.depth, "} or {");
                if self.random.chance(20) {
                    // A branch without a step leads on to the skip.
                    self.line(context.depth, "}");
                    self.line(context.depth, "skip;");
                } else {
                    self.body(inner);
                    self.line(context.depth, "}");
                }
            }
            Kind::Nofence | Kind::Block => {
                let word = if kind == Kind::Block {
                    "{"
                } else {
                    "nofence {"
                };
                self.line(context.depth, &format!("{label}{word}"));
                self.body(inner);
                self.line(context.depth, "}");
            }
            Kind::Atomic => {
                self.line(context.depth, &format!("{label}atomic {{"));
                for _ in 0..self.random.between(1, 3) {
                    let kind = self.random.weighted(&[
                        (5, Kind::Load),
                        (5, Kind::Store),
                        (3, Kind::Assume),
                        (2, Kind::Assign),
                        (1, Kind::Havoc),
                        (1, Kind::Assert),
                        (1, Kind::Add),
                    ]);
                    let text = self.simple(kind);
                    self.line(context.depth + 1, &text);
                }
                self.line(context.depth, "}");
            }
            Kind::Goto | Kind::Leave => self.jump(kind, context),
            Kind::Chain => {
                for _ in 0..self.random.between(2, 3) {
                    for kind in [Kind::Store, Kind::HalfFence] {
                        let text = self.simple(kind);
                        self.line(context.depth, &format!("{label}{text}"));
                        label.clear();
                    }
                }
            }
            _ => {
                let text = self.simple(kind);
                self.line(context.depth, &format!("{label}{text}"));
            }
        }
    }

    fn kind(&mut self, context: Context) -> Kind {
        let mut table = vec![
            (26, Kind::Store),
            (26, Kind::Load),
            (5, Kind::Assign),
            (2, Kind::Havoc),
            (2, Kind::Skip),
            (5, Kind::Fence),
            (2, Kind::Assume),
            (2, Kind::Assert),
        ];
        if self.options.with_ss_sl {
            table.push((8, Kind::HalfFence));
        }
        if self.options.with_chains {
            table.push((40, Kind::Chain));
        }
        if self.options.with_atomics {
            table.extend([
                (4, Kind::Cas),
                (2, Kind::CasOld),
                (3, Kind::Swap),
                (3, Kind::Add),
                (3, Kind::Atomic),
            ]);
        }
        if context.depth < 4 {
            table.extend([(2, Kind::Nofence), (1, Kind::Block)]);
            if !self.options.straight_line {
                table.extend([(7, Kind::If), (4, Kind::Either)]);
                if context.free {
                    table.extend([(2, Kind::Goto), (2, Kind::Leave)]);
                }
                if self.options.with_loops {
                    table.extend([(4, Kind::While), (4, Kind::Do), (2, Kind::Await)]);
                    table.extend([(1, Kind::For), (1, Kind::Repeat)]);
                }
            }
        }
        self.random.weighted(&table)
    }

    /// A jump under a condition; backwards only where loops are wanted.
    fn jump(&mut self, kind: Kind, context: Context) {
        let labels = self.current().labels.clone();
        let mut ways = vec!["stop".to_string()];
        if kind == Kind::Goto {
            ways = vec!["goto out".to_string()];
            if self.options.with_loops {
                ways.extend(labels.iter().map(|label| format!("goto {label}")));
            }
        } else if context.in_loop {
            ways = vec!["break".to_string(), "continue".to_string()];
        }
        let way = self.random.pick(&ways);
        if way == "goto out" {
            self.current().leaves = true;
        }
        let condition = self.condition();
        self.line(context.depth, &format!("if ({condition}) {way};"));
    }

    /// A statement of one line.
    fn simple(&mut self, kind: Kind) -> String {
        let local = self.local();
        let target = local.name.clone();
        match kind {
            Kind::Store => {
                let (variable, place) = self.place();
                format!("store {place} = {};", self.value(&variable))
            }
            Kind::Load => {
                let (variable, place) = self.place();
                let target = self.local_for(&variable);
                format!("load {target} = {place};")
            }
            Kind::Cas => {
                let (variable, place) = self.place();
                let (expected, new) = (self.value(&variable), self.value(&variable));
                format!("cas {target} = {place}, {expected}, {new};")
            }
            Kind::CasOld => {
                let (variable, place) = self.place();
                let old = self.local_for(&variable);
                let target = self.other_local(&old);
                let (expected, new) = (self.value(&variable), self.value(&variable));
                match target {
                    Some(target) => format!("cas {target}, {old} = {place}, {expected}, {new};"),
                    None => format!("cas {old} = {place}, {expected}, {new};"),
                }
            }
            Kind::Await => {
                let (variable, place) = self.place();
                let value = self.value(&variable);
                match self.random.below(4) {
                    0 => format!("await ({place});"),
                    1 => format!("await (!{place} || {place} == {value});"),
                    _ => format!("await ({place} == ({value}));"),
                }
            }
            Kind::Swap => {
                let (variable, place) = self.place();
                let target = self.local_for(&variable);
                format!("swap {target} = {place}, {};", self.value(&variable))
            }
            Kind::Add => {
                // Stays in the range only where the other writes let it.
                let (variable, place) = self.place();
                let target = self.local_for(&variable);
                let by = self.random.pick(&["1", "1", "1", "0", "-1"]);
                format!("add {target} = {place}, {by};")
            }
            Kind::Fence => "fence;".to_string(),
            Kind::HalfFence => self.random.pick(&["fence ss;", "fence sl;"]).to_string(),
            Kind::Assign => format!("{target} = {};", self.value(&local)),
            Kind::Havoc if local.unbounded || self.random.chance(30) => {
                format!("havoc {target} in 0..=1;")
            }
            Kind::Havoc => format!("havoc {target};"),
            Kind::Skip => "skip;".to_string(),
            Kind::Assume => format!("assume ({});", self.predicate(2)),
            Kind::Assert => format!("assert ({} || {});", self.predicate(2), self.predicate(2)),
            _ => unreachable!("not a statement of one line"),
        }
    }
}
