//! Text for people: aligned tables and a few colours.

use crate::describe;
use crate::memory::step::At;
use crate::program::Program;
use crate::source::Source;
use crate::space::Spin;
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    pub color: bool,
}

impl Paint {
    pub fn good(self, text: &str) -> String {
        self.styled(AnsiColor::Green.on_default().bold(), text)
    }

    pub fn bad(self, text: &str) -> String {
        self.styled(AnsiColor::Red.on_default().bold(), text)
    }

    pub fn unsure(self, text: &str) -> String {
        self.styled(AnsiColor::Yellow.on_default().bold(), text)
    }

    pub fn faint(self, text: &str) -> String {
        self.styled(Style::new().dimmed(), text)
    }

    /// What stands out.
    pub fn strong(self, text: &str) -> String {
        self.styled(Style::new().bold(), text)
    }

    /// The name of a process in its colour.
    pub fn process(self, index: usize, text: &str) -> String {
        use AnsiColor::{Blue, Cyan, Green, Magenta, Red, Yellow};
        let colors = [Cyan, Magenta, Yellow, Green, Blue, Red];
        self.styled(colors[index % colors.len()].on_default(), text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        match self.color {
            true => format!("{style}{text}{style:#}"),
            false => text.to_string(),
        }
    }
}

/// What an answer about robustness says, and what it does not.
pub const ROBUSTNESS: &str = "states without pending stores were compared with those of SC; properties were not looked at, and trace robustness is a stronger notion";

/// What processes do for ever behind a trace that ends stuck, a line a step.
pub fn spins(program: &Program, source: &Source, spins: &[Spin]) -> String {
    let mut out = String::new();
    for spin in spins {
        let process = program.process(spin.process);
        let halts = match spin.begin {
            Some(_) => "goes round",
            None => "cannot move any more",
        };
        let _ = writeln!(out, "  then {} {halts}:", process.name);
        for (index, taken) in spin.steps.iter().enumerate() {
            let location = describe::step_location(source, process, &taken.step);
            let line = location.map_or(String::new(), |it| it.line());
            let text = describe::step(program, source, process, &taken.step);
            let first = spin.begin.is_some_and(|begin| index == begin);
            let last = spin.begin.is_some() && index + 1 == spin.steps.len();
            let bar = match (first, last) {
                (true, true) => '⟲',
                (true, false) => '╭',
                (false, true) => '╰',
                _ if spin.begin.is_some_and(|begin| index > begin) => '│',
                _ => ' ',
            };
            let _ = writeln!(out, "    {bar} line {line}: {text}");
        }
        if let (None, At::Loc(at)) = (spin.begin, spin.end.at) {
            let next = process.edges_from(at).next();
            let next = next.map(|(_, edge)| edge.span);
            if let Some(span) = next {
                let line = source.location(span.start).line();
                let text = describe::one_line(source, span);
                let _ = writeln!(out, "      line {line}: {text}");
            }
        }
    }
    out
}

/// A line of a text that something was added to: its number in the original unless it is new,
/// the text, and whether it is new or changed.
pub type Line<'a> = (Option<usize>, &'a str, bool);

/// The lines of a text that something was added to.
pub fn with_additions<'a>(original: &str, fenced: &'a str) -> Vec<Line<'a>> {
    let old: Vec<&str> = original.lines().collect();
    let mut rows = Vec::new();
    let mut at = 0;
    let mut lines = fenced.lines().peekable();
    while let Some(line) = lines.next() {
        let same = old.get(at) == Some(&line);
        let added = !same && lines.peek().is_some_and(|next| old.get(at) == Some(next));
        let number = (!added).then(|| {
            at += 1;
            at
        });
        rows.push((number, line, !same));
    }
    rows
}

/// The lines around what was added to a text, with the additions marked.
pub fn excerpt(original: &str, fenced: &str, paint: Paint) -> String {
    let rows = with_additions(original, fenced);
    let near = |index: usize| {
        let window = index.saturating_sub(2)..(index + 3).min(rows.len());
        rows[window].iter().any(|(_, _, changed)| *changed)
    };
    let mut out = String::new();
    let mut gap = false;
    for (index, (number, line, changed)) in rows.iter().enumerate() {
        if !near(index) {
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) && !out.is_empty() {
            out.push_str("      ⋮\n");
        }
        let number = number.map_or(String::new(), |number| number.to_string());
        let text = format!("{number:>5} {} {line}", if *changed { '+' } else { '|' });
        let text = if *changed { paint.good(&text) } else { text };
        let _ = writeln!(out, "{}", text.trim_end());
    }
    out.push('\n');
    out
}

/// Lines up columns, the first row being the heading; numbers go to the right.
pub fn table<R: AsRef<[String]>>(rows: &[R], right: &[bool], paint: Paint) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row.as_ref()[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..right.len()).map(width).collect();
    let mut out = String::new();
    for (index, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, cell) in row.as_ref().iter().enumerate() {
            let gap = " ".repeat(widths[column] - cell.chars().count());
            let cell = match right[column] {
                true => format!("{gap}{cell}"),
                false => format!("{cell}{gap}"),
            };
            let _ = write!(line, "  {cell}");
        }
        let line = line.trim_end();
        let line = if index == 0 {
            paint.faint(line)
        } else {
            line.to_string()
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}
