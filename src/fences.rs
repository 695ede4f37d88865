//! Fence points as a person names them: by line and column.

use crate::program::{FencePoint, FenceSite, PointId, Program, Side};
use crate::source::{Location, Position, Source};
use std::collections::BTreeSet;
use std::fmt;

/// Where a person wants a fence: `LINE:COL` is where `fence;` would be typed;
/// `LINE:COL:before` and `LINE:COL:after` name the statement that begins there. A place in
/// a file that the main file includes has the name of that file before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FencePlace {
    /// The main file, if it is not named.
    pub file: Option<String>,
    pub at: Position,
    pub side: Option<Side>,
}

impl std::str::FromStr for FencePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<FencePlace, String> {
        let usage = || {
            format!(
                "'{text}' is not [FILE:]LINE:COL, [FILE:]LINE:COL:before or [FILE:]LINE:COL:after"
            )
        };
        let (rest, side) = match text.trim().rsplit_once(':') {
            Some((rest, "before")) => (rest, Some(Side::Before)),
            Some((rest, "after")) => (rest, Some(Side::After)),
            Some((rest, "release")) => (rest, Some(Side::Release)),
            Some((rest, "seq_cst")) => (rest, Some(Side::SeqCst)),
            _ => (text.trim(), None),
        };
        let mut words = rest.rsplitn(3, ':');
        let mut number = || words.next()?.parse().ok();
        let column = number().ok_or_else(usage)?;
        let line = number().ok_or_else(usage)?;
        Ok(FencePlace {
            file: words.next().map(str::to_string),
            at: Position { line, column },
            side,
        })
    }
}

impl fmt::Display for FencePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        match self.side {
            Some(side) => write!(f, "{}:{side}", self.at),
            None => write!(f, "{}", self.at),
        }
    }
}

/// A point as `[FILE:]LINE:COL:SIDE`, which [`FencePlace`] reads back.
pub fn name(program: &Program, source: &Source, point: PointId) -> String {
    let site = program.points[point.index()].sites[0];
    let (offset, side) = match site.side {
        Side::Inside => (site.offset(), None),
        side => (site.statement.start, Some(side)),
    };
    let location = source.location(offset);
    let place = FencePlace {
        file: location.file.map(str::to_string),
        at: location.at,
        side,
    };
    place.to_string()
}

/// The fence point at a place, or what to say about there being none. Where every process
/// has points of its own, it is the one of the first process.
pub fn find(program: &Program, source: &Source, place: &FencePlace) -> Result<PointId, String> {
    find_in(program, source, place, |_| true)
}

/// The same among the points that satisfy a condition.
pub fn find_in(
    program: &Program,
    source: &Source,
    place: &FencePlace,
    wanted: impl Fn(&FencePoint) -> bool,
) -> Result<PointId, String> {
    let file = place.file.as_deref().unwrap_or(source.name());
    let offset = source.offset_in(file, place.at);
    let matches = |site: &FenceSite| match (offset, place.side) {
        (None, _) => false,
        (Some(at), Some(side)) => site.side == side && site.statement.start == at,
        (Some(at), None) => {
            let own = site.offset();
            let (low, high) = (own.min(at) as usize, own.max(at) as usize);
            source.text()[low..high].chars().all(char::is_whitespace)
        }
    };
    // Typed behind a body without braces, a fence stands behind the whole statement.
    let points = program.points.iter().enumerate();
    let points = points.filter(|(_, point)| wanted(point));
    let sites = points.flat_map(|(id, point)| point.sites.iter().map(move |site| (id, site)));
    let here = sites.filter(|(_, site)| matches(site));
    if let Some((id, _)) = here.min_by_key(|(_, site)| site.body.is_some()) {
        return Ok(PointId(id as u32));
    }
    if program.unreachable.iter().any(matches) {
        return Err(format!(
            "no process comes to {place}, so a fence there does nothing"
        ));
    }
    let sites = program.points.iter().flat_map(|point| &point.sites);
    let sites = sites.filter(|site| source.file(site.offset()).0 == file);
    let locations = sites.map(|site| source.location(site.offset()));
    let nearby: BTreeSet<Location> = locations.filter(|l| l.at.line == place.at.line).collect();
    let nearby: Vec<String> = nearby.iter().map(Location::to_string).collect();
    Err(match nearby.is_empty() {
        true => format!("no fence can be typed at {place}"),
        false => format!(
            "no fence can be typed at {place}; on that line there is room at {}",
            nearby.join(", ")
        ),
    })
}
