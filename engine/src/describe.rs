//! States, steps and violations in words.

use crate::memory::step::{At, Effect, Step};
use crate::memory::{Buffers, Marker};
use crate::program::{Edge, Instr, LocalId, PlaceId, Process, ProcessId, Program, PropertyKind};
use crate::property::Violation;
use crate::source::{Location, Source, Span};
use crate::space::{Snapshot, Trace};

/// What a step does, in the words of the program with places and values filled in.
pub fn step(program: &Program, source: &Source, process: &Process, step: &Step) -> String {
    let place = |id: PlaceId| &program.places[id.index()].name;
    let Some(edge) = step.path.last().map(|id| process.edge(*id)) else {
        let Effect::Flush(entry) = step.effect else {
            return "wait".to_string();
        };
        let value = program.show(entry.place, entry.value);
        return format!("flush {} = {value}", place(entry.place));
    };
    let text = one_line(source, edge.span);
    match (step.effect, &edge.instr) {
        (Effect::Store(id, value), _) => {
            format!("store {} = {}", place(id), program.show(id, value))
        }
        (Effect::Load(id, value), Instr::Load { local, .. }) => {
            let local = &process.locals[local.index()];
            let value = program.show(id, value);
            match local.is_temporary() {
                true => format!("load {} (is {value})", place(id)),
                false => format!("load {} = {} (is {value})", local.name, place(id)),
            }
        }
        (Effect::Update(id, value), _) => format!("{text} (was {})", program.show(id, value)),
        (Effect::Local(Some(value)), _) => format!("{text} (chose {value})"),
        (_, Instr::Pass) => "go on".to_string(),
        _ => on_the_way(source, edge),
    }
}

/// What one edge on the way of a step does to locals.
pub fn on_the_way(source: &Source, edge: &Edge) -> String {
    let text = one_line(source, edge.span);
    match &edge.instr {
        Instr::Guard { wanted, .. } if !text.starts_with("assume") => {
            format!("test {text}: {wanted}")
        }
        _ => text,
    }
}

/// The place in the source that a step belongs to; a flush has none.
pub fn step_location<'a>(
    source: &'a Source,
    process: &Process,
    step: &Step,
) -> Option<Location<'a>> {
    let edge = process.edge(*step.path.last()?);
    Some(source.location(edge.span.start))
}

/// The text of a statement on one line, without its semicolon, cut if it is long.
pub fn one_line(source: &Source, span: Span) -> String {
    let words: Vec<&str> = source.slice(span).split_whitespace().collect();
    let text = words.join(" ");
    let text = text.trim_end_matches(';');
    match text.char_indices().nth(48) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// What is wrong with a state, and the place in the source that says so.
pub fn violation(
    program: &Program,
    source: &Source,
    violation: Violation,
    state: &Snapshot,
) -> (String, Option<Span>) {
    match violation {
        Violation::Failure(process, failure) => {
            let name = &program.process(process).name;
            let text = one_line(source, failure.span);
            let what = match failure.fault {
                None => format!("assertion failed in {name}: {text}"),
                Some(fault) => format!("runtime error in {name}: {text}: {fault}"),
            };
            (what, Some(failure.span))
        }
        Violation::Undefined(id, fault) => {
            let span = program.property(id).span;
            (format!("{}: {fault}", one_line(source, span)), Some(span))
        }
        Violation::Property(id) => {
            let property = program.property(id);
            let text = one_line(source, property.span);
            let how = match property.kind {
                PropertyKind::Mutex => {
                    let (label, positions) = &property.labels[0];
                    let at =
                        |(id, at): &&(ProcessId, _)| state.configs[id.index()].at == At::Loc(*at);
                    let there = positions.iter().filter(at);
                    let names: Vec<&str> = there
                        .map(|(id, _)| program.process(*id).name.as_str())
                        .collect();
                    format!("{} are all at '{label}'", names.join(", "))
                        .replace(", ", if names.len() == 2 { " and " } else { ", " })
                        .replace(
                            "are all",
                            if names.len() == 2 {
                                "are both"
                            } else {
                                "are all"
                            },
                        )
                }
                PropertyKind::Forbid => "the state satisfies it".to_string(),
                PropertyKind::Invariant => "the state does not satisfy it".to_string(),
                // A litmus test may name the outcome that must not be observed.
                PropertyKind::Final if text.trim_start_matches('~').starts_with("exists") => {
                    "the final state satisfies it".to_string()
                }
                PropertyKind::Final => "the final state does not satisfy it".to_string(),
            };
            (format!("{text}: {how}"), Some(property.span))
        }
        Violation::NotSequential => {
            let text = "no store is pending, and sequential consistency does not reach this state";
            (text.to_string(), None)
        }
        Violation::Deadlock | Violation::Stuck => {
            let waiting = program.processes.iter().zip(&state.configs);
            let waiting = waiting.filter(|(process, config)| config.at != At::Loc(process.exit));
            let waiting = waiting.map(|(process, config)| {
                let At::Loc(at) = config.at else {
                    return process.name.clone();
                };
                let next = process.edges_from(at).next();
                match next.map(|(_, edge)| source.location(edge.span.start)) {
                    Some(at) if violation == Violation::Stuck => {
                        format!("{} can only spin at {at}", process.name)
                    }
                    Some(at) => format!("{} waits at {at}", process.name),
                    None => format!("{} is stuck", process.name),
                }
            });
            let waiting: Vec<String> = waiting.collect();
            let word = match violation {
                Violation::Stuck => "stuck",
                _ => "deadlock",
            };
            (format!("{word}: {}", waiting.join(", ")), None)
        }
    }
}

/// What a statement that failed saw at the end of a trace: `r = 3, s = 0`; nothing if no statement
/// failed or none of its locals matters.
pub fn seen_by_failure(program: &Program, trace: &Trace) -> Option<String> {
    let (last, before) = trace.steps.split_last()?;
    let At::Failed(_) = last.after.configs[last.process.index()].at else {
        return None;
    };
    let process = program.process(last.process);
    let before = before.last().map_or(&trace.initial, |step| &step.after);
    let mut locals = before.configs[last.process.index()].locals.clone();
    let (failed, local_steps) = last.step.path.split_last()?;
    for edge in local_steps {
        if let Instr::Assign { local, value } = &process.edge(*edge).instr {
            let value = value.eval(&|local: &LocalId| Ok(locals[local.index()]));
            locals[local.index()] = value.ok()?;
        }
    }
    let mut named: Vec<LocalId> = Vec::new();
    if let Instr::Assert { condition, .. } = &process.edge(*failed).instr {
        condition.atoms(&mut |local| named.push(*local));
    }
    named.sort();
    named.dedup();
    named.retain(|local| !process.locals[local.index()].is_temporary());
    let words = named.iter().map(|local| {
        let name = &process.locals[local.index()].name;
        format!("{name} = {}", locals[local.index()])
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The stores of one process that are pending, oldest first: `x=1,2 y=0`; those whose
/// order is not known as a set with the latest behind it: `x={0,1}:1`.
pub fn buffers(program: &Program, buffers: &Buffers) -> String {
    let mut words: Vec<String> = Vec::new();
    for segment in buffers.segments() {
        words.extend(marker_word(segment.marker));
        let mut last = None;
        for entry in &segment.head {
            let place = &program.places[entry.place.index()].name;
            match words.last_mut() {
                Some(word) if last == Some(entry.place) => {
                    word.push_str(&format!(",{}", program.show(entry.place, entry.value)));
                }
                _ => {
                    let value = program.show(entry.place, entry.value);
                    words.push(format!("{place}={value}"));
                }
            }
            last = Some(entry.place);
        }
        for stores in &segment.unordered {
            let place = &program.places[stores.place.index()].name;
            let show = |value| program.show(stores.place, value);
            let values: Vec<String> = stores.set.iter().map(|e| show(e.value)).collect();
            let latest = stores
                .latest
                .map(|latest| format!(":{}", show(latest.value)));
            let latest = latest.unwrap_or_default();
            words.push(format!("{place}={{{}}}{latest}", values.join(",")));
        }
    }
    words.join(" ")
}

fn marker_word(marker: Marker) -> Option<String> {
    let kinds = [(marker.store_store, "ss"), (marker.store_load, "sl")];
    let kinds: Vec<&str> = kinds
        .iter()
        .filter(|(on, _)| *on)
        .map(|(_, k)| *k)
        .collect();
    (!kinds.is_empty()).then(|| format!("|{}|", kinds.join("+")))
}

/// The values in memory: `turn=0 ent={1,0}`.
pub fn memory(program: &Program, state: &Snapshot) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut array: Option<&str> = None;
    for ((place, value), id) in program.places.iter().zip(&state.memory).zip(0..) {
        let value = program.show(PlaceId(id), *value);
        match place.name.split_once('[') {
            None => {
                close(&mut words, &mut array);
                words.push(format!("{}={value}", place.name));
            }
            Some((name, _)) if array == Some(name) => {
                if let Some(word) = words.last_mut() {
                    word.push_str(&format!(",{value}"));
                }
            }
            Some((name, _)) => {
                close(&mut words, &mut array);
                words.push(format!("{name}={{{value}"));
                array = Some(name);
            }
        }
    }
    close(&mut words, &mut array);
    words.join(" ")
}

fn close(words: &mut [String], array: &mut Option<&str>) {
    if let (Some(word), Some(_)) = (words.last_mut(), array.take()) {
        word.push('}');
    }
}
