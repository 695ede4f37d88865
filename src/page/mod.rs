//! One self-contained page of results: no network, no dependencies, light and dark.
//!
//! Tables, plots and sources are plain HTML and inline SVG, so that the page reads and prints
//! without its script; the script adds the theme switch, the choice of placements and the
//! counterexamples that can be stepped through.

mod charts;
mod heat;
mod plot;
mod program;
mod timeline;

pub use charts::{precision_plot, states_plot, time_plot};
pub use plot::Plot;

use crate::experiment::{Entry, short, short_names};
use crate::record::ListedProgram;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page for these programs and cells.
pub fn render(title: &str, programs: &[ListedProgram], entries: &[Entry]) -> String {
    let folder = short_names(programs);
    let shown: Vec<(&ListedProgram, String, Vec<&Entry>)> = programs
        .iter()
        .map(|listed| {
            let own = entries.iter().filter(|e| e.cell.program == listed.program);
            (listed, short(&folder, &listed.program), own.collect())
        })
        .collect();
    let title = escape(title);
    let mut body = format!(
        "<header><h1>{title}</h1><p>{}</p>\
         <button id=\"theme\" type=\"button\" title=\"Switch between light and dark\">◐ theme</button>\
         </header>\n<main>\n",
        overview(programs, entries)
    );
    let _ = writeln!(
        body,
        "<section><h2>All cells</h2>{}</section>",
        heat::table(&shown)
    );
    let overall = charts::overall(entries);
    if !overall.is_empty() {
        let _ = writeln!(
            body,
            "<section><h2>Against k</h2><div class=\"plots\">{overall}</div></section>"
        );
    }
    body.push_str("<section><h2>Programs</h2>\n");
    for (index, (listed, name, own)) in shown.iter().enumerate() {
        body.push_str(&program::section(index, listed, name, own));
    }
    let _ = write!(
        body,
        "</section>\n</main>\n<footer>fencesmith {}</footer>\n",
        env!("CARGO_PKG_VERSION")
    );
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

fn overview(programs: &[ListedProgram], entries: &[Entry]) -> String {
    use crate::words::count;
    let seconds: f64 = entries.iter().filter_map(|e| e.measured.total_s).sum();
    format!(
        "{}, {}, {} of searching",
        count(programs.len() as u64, "program"),
        count(entries.len() as u64, "cell"),
        crate::words::duration(seconds)
    )
}

/// Text in HTML, attributes included.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// A number in few characters: `950`, `1.2k`, `34M`.
fn compact(number: u64) -> String {
    let units = ["", "k", "M", "G", "T"];
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 9.95);
    format!("{value:.digits$}{}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_characters() {
        let numbers = [
            0, 999, 1000, 1234, 9_949, 9_951, 123_456, 999_499, 999_500, 34_000_000,
        ];
        let expected = [
            "0", "999", "1.0k", "1.2k", "9.9k", "10k", "123k", "999k", "1.0M", "34M",
        ];
        assert_eq!(numbers.map(compact), expected);
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escape("<a href=\"x\">&'"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"
        );
    }
}
