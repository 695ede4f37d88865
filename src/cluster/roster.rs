//! Which processes take part, and the secret that they share.

use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};
use std::fmt;

/// The addresses of all processes, and the secret of the run if it is written beside them.
#[derive(Debug, Clone)]
pub struct Roster {
    /// `HOST:PORT`, by process.
    pub addresses: Vec<String>,
    pub secret: Option<Secret>,
}

/// What the processes of a run know and nobody else does.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// A secret with fewer characters could be guessed.
const FEWEST: usize = 16;

impl Secret {
    /// A secret; `None` if it is too short.
    pub fn new(text: &str) -> Option<Secret> {
        (text.chars().count() >= FEWEST).then(|| Secret(text.to_string()))
    }

    /// A new secret that nobody can guess; `None` if the system has no random numbers.
    pub fn random() -> Option<Secret> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        Some(Secret(digits.collect()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Roster {
    /// Reads a list of hosts: one `HOST:PORT` in a line, one line `secret TOKEN`, and comments
    /// behind `#`.
    pub fn parse(source: &Source) -> Result<Roster, Vec<Diagnostic>> {
        let mut roster = Roster {
            addresses: Vec::new(),
            secret: None,
        };
        let mut wrong = Vec::new();
        let mut start = 0;
        for line in source.text().split_inclusive('\n') {
            let text = line.split('#').next().unwrap_or_default();
            let indent = text.len() - text.trim_start().len();
            let text = text.trim();
            let from = (start + indent) as u32;
            let span = Span {
                start: from,
                end: from + text.len() as u32,
            };
            start += line.len();
            if !text.is_empty()
                && let Err((message, help)) = roster.add(text)
            {
                wrong.push(Diagnostic::error(span, message).help(help));
            }
        }
        if wrong.is_empty() && roster.addresses.is_empty() {
            let message = "no process is listed";
            wrong.push(Diagnostic::error(Span::default(), message).help(ADDRESS));
        }
        match wrong.is_empty() {
            true => Ok(roster),
            false => Err(wrong),
        }
    }

    fn add(&mut self, text: &str) -> Result<(), (String, &'static str)> {
        if let Some(token) = text.strip_prefix("secret ") {
            if self.secret.is_some() {
                return Err(("a second secret".to_string(), "a run has one secret"));
            }
            let short = || ("the secret is too short".to_string(), LENGTH);
            self.secret = Some(Secret::new(token.trim()).ok_or_else(short)?);
            return Ok(());
        }
        let parts = text.rsplit_once(':');
        let port = parts.and_then(|(host, port)| {
            let named = !host.is_empty() && !host.contains(char::is_whitespace);
            named.then(|| port.parse::<u16>().ok()).flatten()
        });
        if port.is_none_or(|port| port == 0) {
            return Err((format!("'{text}' is no address"), ADDRESS));
        }
        if self.addresses.iter().any(|address| address == text) {
            return Err((
                format!("'{text}' is listed twice"),
                "each process has a port of its own",
            ));
        }
        self.addresses.push(text.to_string());
        Ok(())
    }
}

const ADDRESS: &str = "one HOST:PORT in a line for each process, in the order of --process";
const LENGTH: &str = "it has at least 16 characters: try `openssl rand -hex 32`";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Roster, usize> {
        Roster::parse(&Source::new("hosts", text)).map_err(|wrong| wrong.len())
    }

    #[test]
    fn hosts_and_a_secret() {
        let text = "# three\nsecret 0123456789abcdef\n a:1 # here\n\nb:2\n[::1]:3";
        let roster = read(text).expect("it is well formed");
        assert_eq!(roster.addresses, ["a:1", "b:2", "[::1]:3"]);
        assert_eq!(
            roster.secret.expect("there is one").text(),
            "0123456789abcdef"
        );
    }

    #[test]
    fn what_is_no_host() {
        let wrong = [
            "",
            "a",
            "a:0",
            "a:99999",
            ":1",
            "a b:1",
            "a:1\na:1",
            "secret short\na:1",
        ];
        for text in wrong {
            assert_eq!(read(text).err(), Some(1), "{text}");
        }
        assert_eq!(read("x\ny\na:1").err(), Some(2));
    }
}
