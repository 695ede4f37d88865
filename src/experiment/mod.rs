//! Experiments: many questions about many programs.
//!
//! A [`Grid`] says which cells there are: one program under one model with one way to
//! represent buffers, to be verified or mended. [`run_all`] answers them in parallel within a
//! budget of threads and memory; every answer becomes a [`Finished`] cell, whose records are
//! what the command line writes down and reads again to go on. Tables, placements and the
//! comparison of FD with PD are made from [`Entry`]s, that is, from what was written down.

mod compare;
mod compare_text;
mod entry;
mod grid;
mod placements;
mod run;
mod schedule;
mod settings;
mod summary;

pub use compare::{
    AtK, Comparison, Side, Winner, compare, comparison_cells, joining_cells, over_all,
};
pub use compare_text::{
    json as comparison_json, markdown as comparison_markdown, text as comparison_text,
};
pub use entry::{CellOutcome, Entry, read_answers};
pub use grid::Grid;
pub use placements::placements;
pub use run::{Finished, Question, Resources, Subject};
pub use schedule::{Budget, Event, Helpers, run_all};
pub use settings::Settings;
pub use summary::{Columns, csv, json, markdown, short, short_names, text};
