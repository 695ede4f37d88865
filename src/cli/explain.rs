//! `fencesmith explain`: executions taken step by step, by hand.
//!
//! Commands are lines. On a terminal they can be edited and called back; anything else is read
//! line by line, and its end is the end of the session.

use super::args;
use super::streams::{print, stdout_paint, table_style};
use super::{Exit, Failure, input, verify};
use crate::describe;
use crate::explain::{MOST_STARTS, Walk, starts};
use crate::limits::Monitor;
use crate::memory::step::Stepper;
use crate::memory::{Abstraction, Model, Semantics};
use crate::program::PointSet;
use crate::record::{Initial, Step, TraceFile};
use crate::replay::{Replay, replay};
use crate::report::text::table;
use crate::report::trace::trace as trace_table;
use crate::space::{Snapshot, Trace};
use crate::verify::{Verdict, VerifyOptions, verify as search};
use crate::words::count;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::fmt::Write;
use std::io::{BufRead, IsTerminal};

const HELP: &str = "  N          take step N
  (nothing)  the next step of the counterexample, or the only step there is
  undo [N]   take back the last step, or N of them (u)
  find       look for a counterexample, and go to its start (f)
  go N       to where the counterexample is after N steps; `go end` to its end (g)
  trace      the steps so far, as a table (t)
  start [N]  start over, in the Nth of the states that the program may start in (s)
  list       the state and its steps again (l)
  help       this (h)
  quit       the end (q)
";

/// Lets a person take steps until they have enough.
pub fn run(args: &args::Explain) -> Result<Exit, Failure> {
    let input = input::program(&args.file, &args.common)?;
    let (source, whole) = (input.source, input.program);
    let recorded = match &args.trace {
        Some(path) => Some(super::replay::recorded(path, &source, &whole)?),
        None => None,
    };
    let (fences, semantics) = match &recorded {
        Some((file, fences)) => (fences.clone(), super::replay::semantics(file)),
        None => {
            let places = args.fence.iter();
            let fences = places.map(|place| verify::fence_point(&whole, &source, place));
            let model = args.model.unwrap_or(Model::Tso);
            let semantics = Semantics {
                atomics: args.common.atomics(),
                fuse: !args.common.no_fuse,
                ..Semantics::new(model, Abstraction::Set).exact()
            };
            (fences.collect::<Result<PointSet, Failure>>()?, semantics)
        }
    };
    let program = whole.fenced(&fences);
    // Of all integers, a few to choose from.
    let stepper = Stepper {
        choices: (-2..=2).collect(),
        ..semantics.stepper(&program)
    };
    let all = starts(&stepper);
    let Some(first) = all.first() else {
        return Err(Failure::message("the program cannot start"));
    };
    let mut session = Session {
        walk: Walk::new(&stepper, &source, first.clone()),
        starts: &all,
        semantics,
    };
    if let Some((file, _)) = &recorded {
        session.follow_recorded(file)?;
    }
    let model = semantics.model.upper();
    print(&format!(
        "{} under {model}; `help` lists the commands\n{}",
        source.name(),
        session.shown()
    ))?;
    let mut lines = Lines::new()?;
    while let Some(line) = lines.next()? {
        match session.obey(line.trim()) {
            Some(text) => print(&text)?,
            None => break,
        }
    }
    Ok(Exit::Fine)
}

/// Where commands come from.
enum Lines {
    Terminal(Box<DefaultEditor>),
    Other(std::io::StdinLock<'static>),
}

impl Lines {
    fn new() -> Result<Lines, Failure> {
        if !std::io::stdin().is_terminal() {
            return Ok(Lines::Other(std::io::stdin().lock()));
        }
        let editor = DefaultEditor::new();
        let editor = editor.map_err(|error| Failure::message(format!("no terminal: {error}")))?;
        Ok(Lines::Terminal(Box::new(editor)))
    }

    /// The next command; nothing at the end of the input or after Ctrl-C.
    fn next(&mut self) -> Result<Option<String>, Failure> {
        let failed = |error: String| Failure::message(format!("cannot read commands: {error}"));
        match self {
            Lines::Terminal(editor) => match editor.readline("> ") {
                Ok(line) => {
                    // What cannot be called back is still obeyed.
                    let _ = editor.add_history_entry(&line);
                    Ok(Some(line))
                }
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
                Err(error) => Err(failed(error.to_string())),
            },
            Lines::Other(input) => {
                let mut line = String::new();
                let read = input.read_line(&mut line);
                let read = read.map_err(|error| failed(error.to_string()))?;
                Ok((read > 0).then_some(line))
            }
        }
    }
}

struct Session<'a> {
    walk: Walk<'a>,
    starts: &'a [Snapshot],
    semantics: Semantics,
}

impl Session<'_> {
    /// Does what a line says; what to print, or nothing if that is all.
    fn obey(&mut self, line: &str) -> Option<String> {
        let mut words = line.split_whitespace();
        let (command, argument) = (words.next().unwrap_or_default(), words.next());
        let number = argument.map(str::parse::<usize>);
        match (command, number) {
            (_, _) if words.next().is_some() => Some(unknown(line)),
            ("q" | "quit" | "exit", None) => None,
            ("h" | "help" | "?", None) => Some(HELP.to_string()),
            ("l" | "list", None) => Some(self.shown()),
            ("t" | "trace", None) => Some(self.table()),
            ("f" | "find", None) => Some(self.find()),
            ("u" | "undo", None | Some(Ok(_))) => {
                let steps = number_or(argument, 1);
                Some(match self.walk.undo(steps) {
                    0 => "this is the start\n".to_string(),
                    _ => self.shown(),
                })
            }
            ("g" | "go", Some(Ok(step))) => Some(self.go(step)),
            ("g" | "go", Some(Err(_))) if argument == Some("end") => Some(self.go(usize::MAX)),
            ("s" | "start", None | Some(Ok(_))) => {
                let number = number_or(argument, 1);
                Some(match self.starts.get(number.wrapping_sub(1)) {
                    Some(state) => {
                        self.walk.restart(state.clone());
                        self.shown()
                    }
                    None => format!("there is no start {number}\n"),
                })
            }
            ("", None) => Some(self.go_on()),
            (command, None) => Some(match command.parse::<usize>() {
                Ok(number) => self.take(number),
                Err(_) => unknown(line),
            }),
            _ => Some(unknown(line)),
        }
    }

    fn take(&mut self, number: usize) -> String {
        let mut choices = self.walk.choices();
        if !(1..=choices.len()).contains(&number) {
            return match choices.len() {
                0 => "there is no step to take\n".to_string(),
                1 => "there is only step 1\n".to_string(),
                most => format!("choose a step from 1 to {most}\n"),
            };
        }
        self.walk.take(choices.swap_remove(number - 1));
        self.shown()
    }

    /// The next step of the counterexample, or the only one.
    fn go_on(&mut self) -> String {
        if let Some(step) = self.walk.next_of_script() {
            let step = step.clone();
            self.walk.take(step);
            return self.shown();
        }
        let mut choices = self.walk.choices();
        match (choices.pop(), choices.is_empty()) {
            (None, _) => "there is no step to take\n".to_string(),
            (Some(only), true) => {
                self.walk.take(only);
                self.shown()
            }
            (Some(_), false) => "there are several steps: choose one by its number\n".to_string(),
        }
    }

    fn go(&mut self, step: usize) -> String {
        if self.walk.script_len().is_none() {
            return "there is no counterexample: `find` looks for one\n".to_string();
        }
        self.walk.jump(step);
        self.shown()
    }

    /// Looks for a counterexample and starts over with it.
    fn find(&mut self) -> String {
        let mut options = VerifyOptions::refining(self.semantics.model);
        options.semantics.atomics = self.semantics.atomics;
        options.semantics.fuse = self.semantics.fuse;
        let program = self.walk.program();
        let answer = search(program, &options, &Monitor::default());
        let found = answer
            .counterexample()
            .and_then(|found| found.trace.as_ref());
        let found = found.and_then(|trace| self.exactly(trace));
        match found {
            Some(trace) => {
                let steps = count(trace.steps.len() as u64, "step");
                self.walk.follow(trace);
                let how = "an empty line takes the next one, `go end` all of them";
                format!("a counterexample of {steps}: {how}\n{}", self.shown())
            }
            None => match answer.verdict {
                Verdict::Correct => "there is none: the program is correct\n".to_string(),
                _ => "none was found, which does not mean that there is none\n".to_string(),
            },
        }
    }

    /// A trace on the exact model.
    fn exactly(&self, trace: &Trace) -> Option<Trace> {
        let (program, source) = (self.walk.program(), self.walk.source);
        let initial = Initial::new(program, source, &trace.initial);
        let steps = Step::all(program, source, trace);
        match replay(self.walk.stepper, source, &initial, &steps) {
            Replay::Violated(_, trace) => Some(trace),
            _ => None,
        }
    }

    fn follow_recorded(&mut self, file: &TraceFile) -> Result<(), Failure> {
        match replay(
            self.walk.stepper,
            self.walk.source,
            &file.initial,
            &file.steps,
        ) {
            Replay::Violated(_, trace) => {
                self.walk.follow(trace);
                Ok(())
            }
            _ => Err(Failure::Message {
                text: "the trace does not fit the program".to_string(),
                help: Some("`fencesmith replay` says where it stops".to_string()),
            }),
        }
    }

    /// The steps so far.
    fn table(&self) -> String {
        let walk = &self.walk;
        trace_table(walk.program(), walk.source, &walk.trace, table_style(true))
    }

    /// The state, what is wrong with it, and the steps it has.
    fn shown(&self) -> String {
        let paint = stdout_paint();
        let walk = &self.walk;
        let (program, state) = (walk.program(), walk.state());
        let mut out = String::new();
        let of = walk.script_len().map(|all| match walk.next_of_script() {
            Some(_) => format!(" of {all}"),
            None => String::new(),
        });
        let _ = writeln!(
            out,
            "\nafter {}{}: {}",
            count(walk.trace.steps.len() as u64, "step"),
            of.unwrap_or_default(),
            describe::memory(program, state)
        );
        let headings = ["process", "line", "next", "locals", "pending"];
        let mut rows = vec![headings.map(str::to_string)];
        for id in program.process_ids() {
            let process = program.process(id);
            let (line, text) = walk.position(id);
            let buffers = describe::buffers(program, &state.configs[id.index()].buffers);
            rows.push([
                process.name.clone(),
                line.unwrap_or_default(),
                text,
                walk.locals(id),
                buffers,
            ]);
        }
        out.push_str(&table(&rows, &[false, true, false, false, false], paint));
        if let Some(violation) = walk.violation() {
            let (text, _) = describe::violation(program, walk.source, violation, state);
            let _ = writeln!(out, "  {} {text}", paint.bad("violated:"));
        }
        let next = walk.next_of_script();
        let choices = walk.choices();
        for (index, choice) in choices.iter().enumerate() {
            let process = program.process(choice.process);
            let told = describe::step(program, walk.source, process, &choice.step);
            let line = describe::step_location(walk.source, process, &choice.step);
            let line = line
                .map(|line| format!(" (line {line})"))
                .unwrap_or_default();
            let scripted = next
                .is_some_and(|next| next.process == choice.process && next.after == choice.after);
            let mark = if scripted { '*' } else { ' ' };
            let _ = writeln!(
                out,
                " {mark}{:>3}  {}: {told}{line}",
                index + 1,
                process.name
            );
        }
        if choices.is_empty() {
            let text = match state.all_done(program) {
                true => "everything has stopped",
                false => "nothing can move",
            };
            let _ = writeln!(out, "  {text}");
        }
        if walk.trace.steps.is_empty() && self.starts.len() > 1 {
            let ways = match self.starts.len() {
                MOST_STARTS => format!("{MOST_STARTS} ways or more"),
                ways => format!("{ways} ways"),
            };
            let _ = writeln!(out, "  the program can start in {ways}: `start N`");
        }
        out
    }
}

fn number_or(argument: Option<&str>, otherwise: usize) -> usize {
    let number = argument.and_then(|argument| argument.parse().ok());
    number.unwrap_or(otherwise)
}

fn unknown(line: &str) -> String {
    let shown: String = line.chars().take(40).collect();
    format!("'{shown}' is no command; `help` lists them\n")
}
