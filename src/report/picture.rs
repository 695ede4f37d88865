//! An execution as a picture: a lane for each process and one for memory, time going down. Arrows
//! lead from a store to the moment it reaches memory, and from there to the loads that saw it. A
//! store that its process has overtaken, by a load from memory or by a later store, is marked: that
//! is the reordering.

use crate::record::{Initial, Step, StepKind};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is drawn.
struct Picture<'a> {
    /// The processes; memory has the lane behind them.
    lanes: Vec<&'a str>,
    steps: &'a [Step],
    arrows: Vec<Arrow>,
}

/// From one moment to another, each a step and a lane.
struct Arrow {
    from: (usize, usize),
    /// A store that never reaches memory leads to the end.
    to: (usize, usize),
    kind: ArrowKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ArrowKind {
    /// A store reaches memory.
    Store,
    /// The same, and its process has done something else before.
    Late,
    /// It does not within this execution.
    Never,
    /// A load sees what is in memory.
    Load,
    /// A load sees what its own process has not written to memory yet.
    Own,
}

/// A store that has not reached memory.
struct Pending<'a> {
    step: usize,
    lane: usize,
    place: &'a str,
    value: i64,
    overtaken: bool,
}

impl<'a> Picture<'a> {
    fn new(initial: &'a Initial, steps: &'a [Step]) -> Picture<'a> {
        let mut lanes: Vec<&str> = initial.locals.keys().map(String::as_str).collect();
        for step in steps {
            if !lanes.contains(&step.process.as_str()) {
                lanes.push(&step.process);
            }
        }
        let mut picture = Picture {
            lanes,
            steps,
            arrows: Vec::new(),
        };
        picture.connect();
        picture
    }

    fn memory(&self) -> usize {
        self.lanes.len()
    }

    fn lane(&self, step: &Step) -> usize {
        let lane = self.lanes.iter().position(|lane| *lane == step.process);
        lane.unwrap_or(0)
    }

    fn connect(&mut self) {
        let memory = self.memory();
        let mut pending: Vec<Pending> = Vec::new();
        // By place: the step that wrote what is there.
        let mut written: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, step) in self.steps.iter().enumerate() {
            let lane = self.lane(step);
            let (Some(kind), Some(place)) = (step.kind, step.place.as_deref()) else {
                continue;
            };
            let value = step.value.unwrap_or_default();
            let here = (index, lane);
            match kind {
                StepKind::Store if waits(step, place) => pending.push(Pending {
                    step: index,
                    lane,
                    place,
                    value,
                    overtaken: false,
                }),
                StepKind::Store => {
                    self.add(here, (index, memory), ArrowKind::Store);
                    written.insert(place, index);
                }
                StepKind::Flush => {
                    let own = |store: &Pending| store.lane == lane && store.place == place;
                    let same = |store: &Pending| own(store) && store.value == value;
                    let found = pending.iter().position(same);
                    if let Some(found) = found.or_else(|| pending.iter().position(own)) {
                        let store = pending.remove(found);
                        let kind = match store.overtaken {
                            true => ArrowKind::Late,
                            false => ArrowKind::Store,
                        };
                        self.add((store.step, lane), (index, memory), kind);
                        let earlier = pending.iter_mut().filter(|other| other.lane == lane);
                        earlier
                            .filter(|other| other.step < store.step)
                            .for_each(|other| other.overtaken = true);
                    }
                    written.insert(place, index);
                }
                StepKind::Load | StepKind::Update => {
                    let own = |store: &&Pending| store.lane == lane && store.place == place;
                    if let Some(store) = pending.iter().rev().find(own) {
                        self.add((store.step, lane), here, ArrowKind::Own);
                    } else {
                        if let Some(&write) = written.get(place) {
                            self.add((write, memory), here, ArrowKind::Load);
                        }
                        let waiting = pending.iter_mut().filter(|store| store.lane == lane);
                        waiting.for_each(|store| store.overtaken = true);
                    }
                    // An update that leaves memory as it is has only read it.
                    let left = step.memory.get(place).and_then(|value| value.as_i64());
                    if kind == StepKind::Update && left != Some(value) {
                        self.add(here, (index, memory), ArrowKind::Store);
                        written.insert(place, index);
                    }
                }
                StepKind::Local | StepKind::Fence | StepKind::Atomic => {}
            }
        }
        for store in pending {
            let end = (self.steps.len(), memory);
            self.add((store.step, store.lane), end, ArrowKind::Never);
        }
    }

    fn add(&mut self, from: (usize, usize), to: (usize, usize), kind: ArrowKind) {
        self.arrows.push(Arrow { from, to, kind });
    }
}

/// A store is pending after its step.
fn waits(step: &Step, place: &str) -> bool {
    let entries = step.buffers.get(&step.process);
    let entries = entries.and_then(|entries| entries.as_array());
    entries.is_some_and(|entries| entries.iter().any(|entry| entry["place"] == place))
}

/// The width of a lane, the height of a step, and what is above the first one.
const LANE: usize = 230;
const ROW: usize = 28;
const TOP: usize = 44;

/// Colours of a picture that stands alone.
const STYLE: &str = "<style>.lane{stroke:#bbb}.step{fill:#eef3fb;stroke:#7a93b8}.flush{fill:#333}\
    text{font:12px monospace;fill:#222}.name{font-weight:bold}path{fill:none;stroke-width:1.5}\
    .store{stroke:#3a6ea5}.late{stroke:#c0392b;stroke-width:2.5}\
    .never{stroke:#c0392b;stroke-dasharray:4 4}.load{stroke:#2e8b57}\
    .own{stroke:#8a6d3b;stroke-dasharray:2 3}</style>";

/// The picture as SVG: with its colours, or to be coloured by the page around it, on which it has
/// a name of its own.
pub fn svg(initial: &Initial, steps: &[Step], on_page: Option<&str>) -> String {
    let tip = on_page.map_or("tip".to_string(), |name| format!("tip-{name}"));
    let picture = Picture::new(initial, steps);
    let lanes = picture.lanes.len() + 1;
    let (width, height) = (lanes * LANE, TOP + (steps.len() + 1) * ROW);
    let x = |lane: usize| lane * LANE + LANE / 2;
    let y = |step: usize| TOP + step * ROW + ROW / 2;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"execution\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">"
    );
    out.push_str(
        "<title>an execution: stores, when they reach memory, and the loads that saw them</title>",
    );
    if on_page.is_none() {
        out.push_str(STYLE);
        let _ = write!(
            out,
            "<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
        );
    }
    let _ = write!(
        out,
        "<defs><marker id=\"{tip}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" style=\"fill:context-stroke;stroke:none\"/></marker></defs>"
    );
    let names = picture.lanes.iter().copied().chain(["memory"]);
    for (lane, name) in names.enumerate() {
        let (x, end) = (x(lane), height - 8);
        let _ = write!(
            out,
            "<line class=\"lane\" x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{end}\"/><text class=\"name\" x=\"{x}\" y=\"26\" text-anchor=\"middle\">{}</text>",
            escaped(name)
        );
    }
    for arrow in &picture.arrows {
        let ((from, from_lane), (to, to_lane)) = (arrow.from, arrow.to);
        let class = class(arrow.kind);
        let (x1, y1, x2, y2) = (x(from_lane), y(from), x(to_lane), y(to));
        // Arrows begin and end beside what they connect.
        let aside = LANE / 2 - 8;
        let (x1, x2, bend) = match from_lane.cmp(&to_lane) {
            std::cmp::Ordering::Less => (x1 + aside, x2 - 6, 40),
            std::cmp::Ordering::Greater => (x1 - 6, x2 + aside, -40),
            std::cmp::Ordering::Equal => (x1 - aside, x2 - aside, -24),
        };
        let control = |x: usize, by: i64| x as i64 + by;
        let back = if from_lane == to_lane { bend } else { -bend };
        let _ = write!(
            out,
            "<path class=\"{class}\" marker-end=\"url(#{tip})\" d=\"M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}\"/>",
            control(x1, bend),
            control(x2, back)
        );
    }
    for (index, step) in steps.iter().enumerate() {
        let y = y(index);
        if step.flush {
            let x = x(picture.memory());
            let text = match (&step.place, step.value) {
                (Some(place), Some(value)) => format!("{place} = {value}"),
                _ => step.step.clone(),
            };
            let _ = write!(
                out,
                "<circle class=\"flush\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/><text x=\"{}\" y=\"{}\">{}</text>",
                x + 10,
                y + 4,
                escaped(&text)
            );
            continue;
        }
        let (x, half) = (x(picture.lane(step)), LANE / 2 - 10);
        let text = escaped(&short(&step.step));
        let _ = write!(
            out,
            "<rect class=\"step\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
            x - half,
            y - 11,
            2 * half,
            22,
            y + 4
        );
    }
    out.push_str("</svg>");
    out
}

fn class(kind: ArrowKind) -> &'static str {
    match kind {
        ArrowKind::Store => "store",
        ArrowKind::Late => "late",
        ArrowKind::Never => "never",
        ArrowKind::Load => "load",
        ArrowKind::Own => "own",
    }
}

/// What fits into a box.
fn short(text: &str) -> String {
    match text.char_indices().nth(27) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// The picture for Graphviz.
pub fn dot(initial: &Initial, steps: &[Step]) -> String {
    let picture = Picture::new(initial, steps);
    let mut out =
        "digraph execution {\n  rankdir=TB; node [shape=box, fontname=monospace];\n".to_string();
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    for (lane, name) in picture.lanes.iter().enumerate() {
        let _ = writeln!(
            out,
            "  subgraph cluster_{lane} {{ label=\"{}\";",
            quoted(name)
        );
        let own = steps.iter().enumerate();
        let own = own.filter(|(_, step)| picture.lane(step) == lane && !step.flush);
        let mut before = None;
        for (index, step) in own {
            let text = quoted(&format!("{}. {}", index + 1, step.step));
            let _ = writeln!(out, "    s{index} [label=\"{text}\"];");
            if let Some(before) = before.replace(index) {
                let _ = writeln!(out, "    s{before} -> s{index} [color=gray, weight=10];");
            }
        }
        out.push_str("  }\n");
    }
    out.push_str("  subgraph cluster_memory { label=memory; node [shape=ellipse];\n");
    let mut points: Vec<usize> = Vec::new();
    for arrow in &picture.arrows {
        let ends = [arrow.from, arrow.to].into_iter();
        let ends = ends.filter(|(_, lane)| *lane == picture.memory());
        points.extend(ends.map(|(step, _)| step));
    }
    points.sort_unstable();
    points.dedup();
    let mut before = None;
    for point in points {
        let text = match steps.get(point).map(|step| (&step.place, step.value)) {
            Some((Some(place), Some(value))) => format!("{}. {place} = {value}", point + 1),
            Some(_) => format!("{}.", point + 1),
            None => "not within this execution".to_string(),
        };
        let _ = writeln!(out, "    m{point} [label=\"{}\"];", quoted(&text));
        if let Some(before) = before.replace(point) {
            let _ = writeln!(out, "    m{before} -> m{point} [color=gray, weight=10];");
        }
    }
    out.push_str("  }\n");
    for arrow in &picture.arrows {
        let node = |(step, lane): (usize, usize)| match lane == picture.memory() {
            true => format!("m{step}"),
            false => format!("s{step}"),
        };
        let look = match arrow.kind {
            ArrowKind::Store => "color=blue",
            ArrowKind::Late => "color=red, penwidth=2, label=late",
            ArrowKind::Never => "color=red, style=dashed",
            ArrowKind::Load => "color=darkgreen",
            ArrowKind::Own => "color=brown, style=dotted",
        };
        let _ = writeln!(
            out,
            "  {} -> {} [constraint=false, {look}];",
            node(arrow.from),
            node(arrow.to)
        );
    }
    out.push_str("}\n");
    out
}
