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
pub use plot::{Plot, Series};

use crate::experiment::{Entry, short, short_names};
use crate::record::ListedProgram;
use crate::words::{count, duration};
use maud::{DOCTYPE, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Forbids the page to fetch anything.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
     script-src 'unsafe-inline'; img-src data:";

/// A program and what is known about it.
struct Section<'a> {
    listed: &'a ListedProgram,
    /// Its name on the page.
    name: String,
    /// Where it stands on the page, as links name it: the same whatever else is there.
    anchor: String,
    entries: Vec<&'a Entry>,
}

/// The page for these programs and cells.
pub fn render(title: &str, programs: &[ListedProgram], entries: &[Entry]) -> String {
    let folder = short_names(programs);
    let sections: Vec<Section> = programs
        .iter()
        .map(|listed| {
            let own = entries.iter().filter(|e| e.cell.program == listed.program);
            Section {
                listed,
                name: short(&folder, &listed.program),
                anchor: anchor(&listed.program),
                entries: own.collect(),
            }
        })
        .collect();
    let plots = charts::overall(entries);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p { (overview(programs, entries)) }
                    button #theme type="button" title="Switch between light and dark" {
                        "◐ theme"
                    }
                }
                main {
                    section { h2 { "All cells" } (heat::table(&sections)) }
                    @if !plots.is_empty() {
                        section {
                            h2 { "Against k" }
                            div.plots { (charts::figures(&plots)) }
                        }
                    }
                    section {
                        h2 { "Programs" }
                        @for (index, section) in sections.iter().enumerate() {
                            (program::section(index, section)) "\n"
                        }
                    }
                }
                footer { "fencesmith " (env!("CARGO_PKG_VERSION")) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// A name as an anchor.
fn anchor(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut anchor = "p-".to_string();
    for c in name.chars() {
        match plain(c) {
            true => anchor.push(c),
            false => anchor.push_str(&format!("-{:x}-", u32::from(c))),
        }
    }
    anchor.replace("-2f-", "--")
}

fn overview(programs: &[ListedProgram], entries: &[Entry]) -> String {
    let seconds: f64 = entries.iter().filter_map(|e| e.measured.total_s).sum();
    format!(
        "{}, {}, {} of searching",
        count(programs.len() as u64, "program"),
        count(entries.len() as u64, "cell"),
        duration(seconds)
    )
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
}
