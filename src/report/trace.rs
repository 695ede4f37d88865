//! A counterexample as a table.
//!
//! If it fits, every line shows all of memory and all pending stores, with what has changed
//! marked by colour. Otherwise a line shows only what its step has changed. Steps of one process
//! that do nothing but compute are folded where there are many of them.

use super::text::{Paint, table};
use crate::describe;
use crate::memory::step::Effect;
use crate::program::{Instr, Process, ProcessId, Program};
use crate::source::Source;
use crate::space::{Locals, LocalsAlong, Snapshot, Trace, TraceStep};

/// How a table is drawn.
#[derive(Debug, Clone, Copy)]
pub struct TableStyle {
    pub paint: Paint,
    /// The columns of the terminal.
    pub width: usize,
    /// Show what becomes of locals.
    pub locals: bool,
}

/// Local steps in a row that are shown one by one.
const FEW: usize = 4;

/// The narrowest column of changes.
const LEAST: usize = 16;

/// A trace as a table: one line a step.
pub fn trace(program: &Program, source: &Source, trace: &Trace, style: TableStyle) -> String {
    let shown = Shown {
        program,
        source,
        style,
        rows: rows(trace, style.locals),
    };
    let full = shown.full(trace);
    let fits = |line: &str| visible_width(line) <= style.width;
    match full.lines().all(fits) && !style.locals {
        true => full,
        false => shown.changes(trace),
    }
}

/// A line of the table.
enum Row {
    /// The step with this index, counted from zero.
    Step(usize),
    /// So many local steps of a process.
    Folded(ProcessId, usize),
}

/// Which lines there are. The first and the last step of a stretch that is folded stay.
fn rows(trace: &Trace, all: bool) -> Vec<Row> {
    let is_local = |step: &TraceStep| matches!(step.step.effect, Effect::Local(_));
    let mut rows = Vec::new();
    let mut at = 0;
    while at < trace.steps.len() {
        let process = trace.steps[at].process;
        let rest = trace.steps[at..].iter();
        let stretch = rest.take_while(|step| is_local(step) && step.process == process);
        let stretch = stretch.count();
        // The last step of all shows what is wrong.
        if stretch > FEW && !all {
            rows.push(Row::Step(at));
            rows.push(Row::Folded(process, stretch - 2));
            rows.push(Row::Step(at + stretch - 1));
            at += stretch;
        } else {
            rows.push(Row::Step(at));
            at += 1;
        }
    }
    rows
}

struct Shown<'a> {
    program: &'a Program,
    source: &'a Source,
    style: TableStyle,
    rows: Vec<Row>,
}

impl Shown<'_> {
    /// All of memory and of the buffers on each line.
    fn full(&self, trace: &Trace) -> String {
        let headings = ["step", "process", "line", "statement", "memory", "buffers"];
        let mut rows = vec![headings.map(str::to_string)];
        let state = |state: &Snapshot| {
            let memory = describe::memory(self.program, state);
            (memory, self.pending(state))
        };
        let (memory, buffers) = state(&trace.initial);
        let [step, process, line, text] = self.start();
        rows.push([step, process, line, text, memory, buffers]);
        for row in &self.rows {
            let [step, process, line, text] = self.begin(trace, row);
            rows.push(match row {
                Row::Step(index) => {
                    let (memory, buffers) = state(&trace.steps[*index].after);
                    [step, process, line, text, memory, buffers]
                }
                Row::Folded(..) => [step, process, line, text, String::new(), String::new()],
            });
        }
        let right = [true, false, true, false, false, false];
        self.coloured(
            table(&rows, &right, self.style.paint),
            trace,
            &|before, line| self.mark_changes(before, line),
        )
    }

    /// What has changed on each line, in lines of its own where there is no room.
    fn changes(&self, trace: &Trace) -> String {
        let headings = ["step", "process", "line", "statement"].map(str::to_string);
        let mut rows = vec![(headings, vec!["changes".to_string()])];
        let start = describe::memory(self.program, &trace.initial);
        let mut start = words(&start);
        let mut locals = self.style.locals.then(|| {
            let along = trace.locals(self.program);
            let processes = self.program.processes.iter().zip(&along.initial);
            for (process, locals) in processes {
                let unknown = vec![None; locals.len()];
                start.extend(set(process, &unknown, locals));
            }
            (along.initial.clone(), along)
        });
        rows.push((self.start(), start));
        for row in &self.rows {
            let mut changes = match row {
                Row::Step(index) => self.changed(trace, *index),
                Row::Folded(..) => Vec::new(),
            };
            if let (Some((now, along)), Row::Step(index)) = (&mut locals, row) {
                let process = trace.steps[*index].process;
                let now = &mut now[process.index()];
                let last = self.on_the_way(&trace.steps[*index], along, *index, now, &mut rows);
                changes.extend(last);
            }
            rows.push((self.begin(trace, row), changes));
        }
        // The statement gives way to the changes, down to a part of its room.
        let width = |column: usize| {
            let cells = rows.iter().map(|(begin, _)| begin[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let fixed = width(0) + width(1) + width(2) + 2 * 5;
        let room = self.style.width.saturating_sub(fixed);
        let statement = width(3).min(room.saturating_sub(LEAST).max(LEAST));
        let room = room.saturating_sub(statement).max(LEAST);
        let mut lines: Vec<[String; 5]> = Vec::new();
        for (begin, changes) in rows {
            let mut parts = wrapped(&changes, room).into_iter();
            let [step, process, line, text] = begin;
            let text = shortened(&text, statement);
            lines.push([step, process, line, text, parts.next().unwrap_or_default()]);
            let empty = String::new;
            lines.extend(parts.map(|part| [empty(), empty(), empty(), empty(), part]));
        }
        let text = table(&lines, &[true, false, true, false, false], self.style.paint);
        self.coloured(text, trace, &|_, line| line.to_string())
    }

    fn start(&self) -> [String; 4] {
        let start = "(start)".to_string();
        ["0".to_string(), String::new(), String::new(), start]
    }

    /// The step, its process, its line and its statement.
    fn begin(&self, trace: &Trace, row: &Row) -> [String; 4] {
        match row {
            Row::Step(index) => {
                let taken = &trace.steps[*index];
                let process = self.program.process(taken.process);
                let location = describe::step_location(self.source, process, &taken.step);
                [
                    (index + 1).to_string(),
                    process.name.clone(),
                    location.map_or(String::new(), |it| it.line()),
                    describe::step(self.program, self.source, process, &taken.step),
                ]
            }
            Row::Folded(process, count) => [
                "⋮".to_string(),
                self.program.process(*process).name.clone(),
                String::new(),
                format!("({count} local steps)"),
            ],
        }
    }

    /// The statements that have run together with a step, each on a line without a number; what the
    /// step itself has done to locals is left.
    fn on_the_way(
        &self,
        taken: &TraceStep,
        along: &LocalsAlong,
        index: usize,
        now: &mut Locals,
        rows: &mut Vec<([String; 4], Vec<String>)>,
    ) -> Vec<String> {
        let process = self.program.process(taken.process);
        let mut changes = Vec::new();
        let behind = &along.steps[index];
        for (at, (&id, locals)) in taken.step.path.iter().zip(behind).enumerate() {
            changes = set(process, now, locals);
            now.clone_from(locals);
            let edge = process.edge(id);
            let shown = !matches!(edge.instr, Instr::Pass) && at + 1 < behind.len();
            if shown {
                let line = self.source.location(edge.span.start).line();
                let text = describe::on_the_way(self.source, edge);
                let begin = [String::new(), process.name.clone(), line, text];
                rows.push((begin, std::mem::take(&mut changes)));
            }
        }
        changes
    }

    /// What a step has changed: places in memory, and the pending stores of its process.
    fn changed(&self, trace: &Trace, index: usize) -> Vec<String> {
        let before = match index.checked_sub(1) {
            Some(before) => &trace.steps[before].after,
            None => &trace.initial,
        };
        let TraceStep { process, after, .. } = &trace.steps[index];
        let automaton = self.program.process(*process);
        let mut words = Vec::new();
        let values = before.memory.iter().zip(&after.memory);
        for (place, (old, new)) in self.program.places.iter().zip(values) {
            if old != new {
                words.push(format!("{}={new}", place.name));
            }
        }
        let [old, new] = [before, after].map(|state| &state.configs[process.index()]);
        if old.buffers != new.buffers {
            let pending = describe::buffers(self.program, &new.buffers);
            words.push(format!("{}:", automaton.name));
            words.extend(match pending.is_empty() {
                true => vec!["(empty)".to_string()],
                false => pending.split(' ').map(str::to_string).collect(),
            });
        }
        words
    }

    /// The pending stores of every process that has some.
    fn pending(&self, state: &Snapshot) -> String {
        let processes = self.program.processes.iter().zip(&state.configs);
        let pending = processes.filter(|(_, config)| !config.buffers.is_empty());
        let words = pending.map(|(process, config)| {
            let pending = describe::buffers(self.program, &config.buffers);
            format!("{}: {pending}", process.name)
        });
        words.collect::<Vec<_>>().join("  ")
    }

    /// Gives each process its colour, on the lines of a table behind its heading.
    fn coloured(&self, text: String, trace: &Trace, mark: &dyn Fn(&str, &str) -> String) -> String {
        if !self.style.paint.color {
            return text;
        }
        let mut out = String::new();
        let mut before = "";
        let mut process = None;
        let mut rows = self.rows.iter();
        for (index, line) in text.lines().enumerate() {
            // Lines that go on with the changes of a step have no number.
            let begins = line
                .trim_start()
                .starts_with(|c: char| c.is_ascii_digit() || c == '⋮');
            if index > 1 && begins {
                process = rows.next().map(|row| match row {
                    Row::Step(index) => trace.steps[*index].process,
                    Row::Folded(process, _) => *process,
                });
            }
            let marked = if index > 1 {
                mark(before, line)
            } else {
                line.to_string()
            };
            match process {
                Some(process) => {
                    let name = &self.program.process(process).name;
                    let name = format!(" {name} ");
                    let coloured = format!(
                        " {} ",
                        self.style.paint.process(process.index(), name.trim())
                    );
                    out.push_str(&marked.replacen(&name, &coloured, 1));
                }
                None => out.push_str(&marked),
            }
            out.push('\n');
            before = line;
        }
        out
    }

    /// Marks the words of memory and buffers that are not on the line before.
    fn mark_changes(&self, before: &str, line: &str) -> String {
        let known: Vec<&str> = before.split_whitespace().collect();
        let parts = line.split(' ').map(|word| match word.contains('=') {
            true if !known.contains(&word) => self.style.paint.strong(word),
            _ => word.to_string(),
        });
        parts.collect::<Vec<_>>().join(" ")
    }
}

/// The locals that have another value than before and a name in the text.
fn set(process: &Process, before: &Locals, now: &Locals) -> Vec<String> {
    let values = before.iter().zip(now);
    let changed = process.locals.iter().zip(values);
    let changed = changed.filter(|(local, (old, new))| old != new && !local.is_temporary());
    let told = changed.filter_map(|(local, (_, new))| {
        let value = (*new)?;
        Some(format!("{}.{}={value}", process.name, local.name))
    });
    told.collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

/// Words in lines of at most this width, if they are not longer themselves.
fn wrapped(words: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

/// A text that is cut if it is too long.
fn shortened(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        false => text.to_string(),
        true => {
            let begin: String = text.chars().take(width.saturating_sub(1)).collect();
            format!("{begin}…")
        }
    }
}

/// The columns that a line takes, without what sets colours.
fn visible_width(line: &str) -> usize {
    let mut width = 0;
    let mut escaped = false;
    for c in line.chars() {
        match (escaped, c) {
            (false, '\x1b') => escaped = true,
            (false, _) => width += 1,
            (true, 'm') => escaped = false,
            (true, _) => {}
        }
    }
    width
}
