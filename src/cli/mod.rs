//! The command line: arguments in, text or JSON out, an exit code. Only this layer does
//! input and output.

mod answers;
mod args;
mod bars;
mod buffers;
mod certificates;
mod check;
mod compare;
mod convert;
mod explain;
mod find;
mod free_memory;
mod infer;
mod input;
mod interrupt;
mod litmus;
mod output;
mod preprocess;
mod processes;
mod programs;
mod progress;
mod refuse;
mod replay;
mod report;
mod run_cells;
mod shell;
mod streams;
mod support;
mod sweep;
mod sweep_folder;
mod sweep_progress;
mod verify;

use crate::diagnostic::{self, Diagnostic};
use crate::record;
use crate::report::text::Paint;
use crate::source::Source;
use args::{Arguments, Command};
use clap::Parser;
use std::path::Path;
use std::process::ExitCode;
use streams::{print, print_message, stderr_paint};

/// Why a command could not do its work: the input or the command line is wrong.
pub enum Failure {
    /// A message without a place in a source file.
    Message { text: String, help: Option<String> },
    /// Everything that is wrong with a source file.
    Program(Source, Vec<Diagnostic>),
}

impl Failure {
    fn message(text: impl Into<String>) -> Failure {
        Failure::Message {
            text: text.into(),
            help: None,
        }
    }

    /// Something could not be done with a file: `verb` says what.
    fn file(verb: &str, path: &Path, error: &std::io::Error) -> Failure {
        Failure::message(format!("cannot {verb} '{}': {error}", path.display()))
    }

    /// Says on standard error what is wrong.
    fn report(&self) {
        print_message(&self.render(stderr_paint()));
    }

    fn render(&self, paint: Paint) -> String {
        match self {
            Failure::Program(source, diagnostics) => {
                diagnostic::render(source, diagnostics, paint.color)
            }
            Failure::Message { text, help } => {
                let help = help.as_ref().map(|help| format!("  help: {help}\n"));
                format!(
                    "{}: {text}\n{}",
                    paint.bad("error"),
                    help.unwrap_or_default()
                )
            }
        }
    }
}

/// Exit codes, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// The input or the command line is wrong.
    Usage,
    /// A violation, or no placement exists.
    Violated,
    /// A limit was reached, or the abstraction is too coarse.
    Inconclusive,
    /// Safe, or placed.
    Fine,
}

impl Exit {
    /// What an exit code means.
    fn of(code: u8) -> Exit {
        let all = [Exit::Fine, Exit::Violated, Exit::Usage];
        let known = all.into_iter().find(|exit| exit.code() == code);
        known.unwrap_or(Exit::Inconclusive)
    }

    fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Violated => 1,
            Exit::Usage => 2,
            Exit::Inconclusive => 3,
        }
    }
}

/// The exit code of a command that has printed its answer; says what failed beside it.
fn conclude(exit: Exit, failures: &[Failure]) -> Exit {
    for failure in failures {
        failure.report();
    }
    match failures.is_empty() {
        true => exit,
        false => Exit::Usage,
    }
}

/// Runs the program: arguments to exit code.
pub fn main() -> ExitCode {
    // Compilers spell it with one dash.
    let words = std::env::args_os().map(|word| match word == "-include" {
        true => "--include".into(),
        false => word,
    });
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version requests arrive here as well, with exit code 0.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    streams::set_color(arguments.color());
    let result = match &arguments.command {
        Command::Verify(verify) => verify::run(verify),
        Command::Infer(infer) => infer::run(infer),
        Command::Check(check) => check::run(check),
        Command::Replay(replay) => replay::run(replay),
        Command::Explain(explain) => explain::run(explain),
        Command::Sweep(sweep) => sweep::run(sweep),
        Command::Compare(compare) => compare::run(compare),
        Command::Report(report) => report::run(report),
        Command::Completions { shell } => shell::completions(*shell),
        Command::Man { command } => shell::man(command.as_deref()),
        Command::Buffers(buffers) => buffers::run(buffers),
        Command::Litmus(litmus) => litmus::run(litmus),
        Command::Convert(convert) => convert::run(convert),
        Command::Member(member) => processes::run_member(member),
        Command::Language => print(args::LANGUAGE).map(|()| Exit::Fine),
        Command::Schema => print(&verify::json_text(&record::schema())).map(|()| Exit::Fine),
    };
    let exit = result.unwrap_or_else(|failure| conclude(Exit::Usage, &[failure]));
    ExitCode::from(exit.code())
}
