//! What fences cost, as people say it.

use crate::c::Repair;
use crate::cli::{Failure, args, input};
use crate::diagnostic::Diagnostic;
use crate::fences;
use crate::infer::allowed;
use crate::infer::hitting::{Costs, MOST_COST};
use crate::program::{Program, Side};
use crate::source::{Position, Source, Span};
use crate::words::grouped;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::path::Path;

/// What a fence costs at each point where one may stand.
pub fn costs(args: &args::Infer, source: &Source, program: &Program) -> Result<Costs, Failure> {
    let prices: Vec<u64> = match cost_file(args) {
        None if args.cost == "loops" => {
            let depths = program.points.iter().map(|point| point.depth);
            depths.map(of_depth).collect()
        }
        // An order that is stronger than need be is dearer.
        None if args.repair != Repair::Fences => {
            let sides = program.points.iter().map(|point| point.sites[0].side);
            sides
                .map(|side| if side == Side::Release { 1 } else { 2 })
                .collect()
        }
        None => vec![1; program.points.len()],
        Some(path) => from_file(path, source, program)?,
    };
    let allowed = allowed(program, args.place);
    let both = prices.into_iter().zip(allowed);
    Ok(both
        .map(|(price, allowed)| allowed.then_some(price))
        .collect())
}

/// The file that the costs come from.
pub fn cost_file(args: &args::Infer) -> Option<&Path> {
    match args.cost.as_str() {
        "uniform" | "loops" => None,
        path => Some(Path::new(path)),
    }
}

/// Ten times as much for each loop, as far as that is allowed.
fn of_depth(depth: u32) -> u64 {
    let cost = 10u64.checked_pow(depth);
    cost.map_or(MOST_COST, |cost| cost.min(MOST_COST))
}

/// Reads a file of costs: a JSON object of places to numbers. Other points cost 1.
fn from_file(path: &Path, source: &Source, program: &Program) -> Result<Vec<u64>, Failure> {
    let file = input::read(path)?;
    let mut json = serde_json::Deserializer::from_str(file.text());
    let entries = Entries {
        source,
        program,
        prices: vec![None; program.points.len()],
    };
    let read = entries.deserialize(&mut json);
    match read.and_then(|prices| json.end().map(|()| prices)) {
        Ok(prices) => Ok(prices.into_iter().map(|price| price.unwrap_or(1)).collect()),
        Err(error) => {
            let diagnostic = diagnostic(&file, &error);
            Err(Failure::Program(file, vec![diagnostic]))
        }
    }
}

/// What is wrong with a file of costs, under the value that shows it.
fn diagnostic(file: &Source, error: &serde_json::Error) -> Diagnostic {
    let text = file.text();
    let line = Position {
        line: error.line() as u32,
        column: 1,
    };
    // The column counts the bytes of the line up to the end of the value.
    let start = file.offset(line).unwrap_or_default() as usize;
    let mut ends = (0..=text.len().min(start + error.column())).rev();
    let end = ends.find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let in_value = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.');
    let begin = text[..end].trim_end_matches(in_value).len();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&place).unwrap_or(&message);
    Diagnostic::error(Span::new(begin, end), format!("costs: {message}"))
        .help("a file of costs is a JSON object such as {\"12:5\": 10, \"14:9:after\": 2}")
}

/// The entries of a file of costs, and what they say so far.
struct Entries<'a> {
    source: &'a Source,
    program: &'a Program,
    /// By fence point.
    prices: Vec<Option<u64>>,
}

impl Entries<'_> {
    /// Takes an entry into account; or says what is wrong with it. Where the instances of
    /// a template have points of their own, it is about the points of all of them.
    fn add(&mut self, place: &str, cost: u64) -> Result<(), String> {
        if cost > MOST_COST {
            return Err(format!(
                "a cost is at most {}; only the ratios of costs matter",
                grouped(MOST_COST)
            ));
        }
        let named = fences::find(self.program, self.source, &place.parse()?)?;
        let named = &self.program.points[named.index()];
        let points = self.program.points.iter().zip(&mut self.prices);
        for (point, price) in points {
            if (point.template, &point.sites) == (named.template, &named.sites)
                && price.replace(cost).is_some()
            {
                return Err(format!("the cost of a fence at {place} is given twice"));
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = Vec<Option<u64>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = Vec<Option<u64>>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object of places to costs")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        while let Some(place) = map.next_key::<String>()? {
            let entries = &mut self;
            map.next_value_seed(Entry { entries, place })?;
        }
        Ok(self.prices)
    }
}

/// One entry, whose cost is read next.
struct Entry<'e, 'a> {
    entries: &'e mut Entries<'a>,
    place: String,
}

impl<'de> DeserializeSeed<'de> for Entry<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_u64(self)
    }
}

impl Visitor<'_> for Entry<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a whole number from 0 to {}", grouped(MOST_COST))
    }

    fn visit_u64<E: Error>(self, cost: u64) -> Result<(), E> {
        self.entries.add(&self.place, cost).map_err(E::custom)
    }
}
