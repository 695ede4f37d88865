//! The terminal as progress bars are drawn on it.
//!
//! Bars are drawn without line breaks: each is filled up with blanks, so that the next one begins
//! on the next line. Behind the last one this would leave the cursor at the right margin, and the
//! `^C` that a terminal shows would go to the next line, where nobody takes it back. So the blanks
//! behind a line are written only when another one follows.

use indicatif::{MultiProgress, ProgressDrawTarget, TermLike};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use terminal_size::{Height, Width, terminal_size_of};

/// Redraws in a second, at most.
const RATE: u8 = 20;

/// Bars on standard error, if that is a terminal.
pub fn bars() -> MultiProgress {
    let terminal = Box::new(Stderr::default());
    MultiProgress::with_draw_target(ProgressDrawTarget::term_like_with_hz(terminal, RATE))
}

/// Standard error.
#[derive(Debug, Default)]
struct Stderr(Mutex<Pending>);

/// What is not written yet.
#[derive(Debug, Default)]
struct Pending {
    text: String,
    /// Blanks that fill up the line.
    filler: String,
}

impl Stderr {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, text: &str) -> io::Result<()> {
        let mut pending = self.pending();
        let filler = std::mem::take(&mut pending.filler);
        pending.text.push_str(&filler);
        pending.text.push_str(text);
        Ok(())
    }

    /// Moves the cursor by so many lines or columns.
    fn go(&self, n: usize, direction: char) -> io::Result<()> {
        let mut pending = self.pending();
        if n > 0 {
            let _ = write!(pending.text, "\x1b[{n}{direction}");
        }
        Ok(())
    }

    fn size(&self) -> (u16, u16) {
        let size = terminal_size_of(io::stderr());
        size.map_or((80, 24), |(Width(width), Height(height))| (width, height))
    }
}

impl TermLike for Stderr {
    fn width(&self) -> u16 {
        self.size().0
    }

    fn height(&self) -> u16 {
        self.size().1
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.go(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.go(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.go(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.go(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        match text.chars().all(|c| c == ' ') {
            true => {
                self.pending().filler.push_str(text);
                Ok(())
            }
            false => self.add(text),
        }
    }

    fn clear_line(&self) -> io::Result<()> {
        self.pending().text.push_str("\r\x1b[2K");
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let Pending { text, filler } = std::mem::take(&mut *self.pending());
        // What an older and longer line has left behind is erased.
        let rest = if filler.is_empty() { "" } else { "\x1b[K" };
        let mut out = io::stderr().lock();
        out.write_all(format!("{text}{rest}").as_bytes())?;
        out.flush()
    }
}
