//! Standard output and standard error, with colours where they are wanted.
//!
//! `--color` is set for the whole process. Left to decide, `anstream` looks at the stream and
//! at `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and `TERM`. Text is made with or without
//! colours; nothing is removed from it when it is written.

use super::Failure;
use crate::report::text::Paint;
use crate::report::trace::TableStyle;
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use std::io::{ErrorKind, Write};

/// Sets when colours are used.
pub fn set_color(choice: clap::ColorChoice) {
    let choice = match choice {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// How text for standard output is coloured.
pub fn stdout_paint() -> Paint {
    paint(&std::io::stdout())
}

/// How the table of a counterexample is drawn on standard output, with locals if they are wanted.
pub fn table_style(locals: bool) -> TableStyle {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    TableStyle {
        paint: stdout_paint(),
        width: size.map_or(WIDTH, |(width, _)| usize::from(width.0)),
        locals,
    }
}

/// The columns of what is no terminal.
const WIDTH: usize = 80;

/// How text for standard error is coloured.
pub fn stderr_paint() -> Paint {
    paint(&std::io::stderr())
}

fn paint<S: RawStream>(stream: &S) -> Paint {
    Paint {
        color: AutoStream::choice(stream) != ColorChoice::Never,
    }
}

/// Writes results to standard output. A reader that has gone away is not an error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = AutoStream::always(std::io::stdout().lock());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::message(format!(
            "cannot write the results: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Writes a message to standard error. That it cannot be written is not an error.
pub fn print_message(text: &str) {
    let _ = AutoStream::always(std::io::stderr().lock()).write_all(text.as_bytes());
}
