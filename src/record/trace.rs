//! Traces as data: what `--save-trace` writes and `replay` reads.

use crate::describe;
use crate::memory::step::{At, Config, Effect};
use crate::memory::{Atomics, Buffers, Model};
use crate::names::named_enum;
use crate::program::{Process, Program, Value};
use crate::source::Source;
use crate::space::{self, Snapshot, Trace, TraceStep};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// A saved trace with everything a replay needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TraceFile {
    pub schema: String,
    pub tool: String,
    pub program: String,
    pub config: TraceConfig,
    pub initial: Initial,
    pub steps: Vec<Step>,
    /// What is wrong at the end.
    pub violation: String,
}

/// The semantics that a trace was found under.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TraceConfig {
    pub model: Model,
    pub atomics: Atomics,
    pub fuse: bool,
    /// Fences that were added to the program: `LINE:COL:SIDE`.
    #[serde(default)]
    pub fences: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Initial {
    pub memory: BTreeMap<String, Value>,
    /// By process, then by local.
    pub locals: BTreeMap<String, BTreeMap<String, Value>>,
    /// The line of the next statement of each process that has one in the program's own file.
    #[serde(default)]
    pub at: BTreeMap<String, u32>,
}

named_enum! {
    /// What a step does.
    pub enum StepKind: "kind of step" {
        /// A pending store reaches memory.
        Flush = "flush",
        Store = "store",
        Load = "load",
        /// Something is read and written.
        Update = "update",
        Local = "local",
        Fence = "fence",
        Atomic = "atomic",
    }
}

/// One step of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub process: String,
    /// The file, unless it is the program's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where the statement stands; a flush has no line.
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub step: String,
    pub flush: bool,
    /// What kind of step it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<StepKind>,
    /// The place that is read, written or flushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The value that is read, written, flushed or chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The locals of the process after the step.
    pub locals: BTreeMap<String, Value>,
    #[serde(default)]
    pub memory: Map<String, Json>,
    /// The pending stores of each process, oldest first.
    #[serde(default)]
    pub buffers: Map<String, Json>,
    /// The line of the next statement of each process that has one in the program's own file.
    #[serde(default)]
    pub at: BTreeMap<String, u32>,
}

/// What a process does for ever in a state that is stuck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spin {
    pub process: String,
    /// The steps into a loop, and once around it; other processes do not matter to them.
    pub steps: Vec<Step>,
    /// The step, counted from zero, that the loop begins with; none if the process comes to
    /// where it cannot move any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<usize>,
}

impl Spin {
    pub fn new(program: &Program, source: &Source, spin: &space::Spin) -> Spin {
        let steps = spin.steps.iter();
        Spin {
            process: program.process(spin.process).name.clone(),
            steps: steps
                .map(|taken| Step::new(program, source, taken))
                .collect(),
            begin: spin.begin,
        }
    }
}

/// The version of the contract.
pub const TRACE_SCHEMA: &str = "fencesmith-trace/1";

impl Initial {
    /// The starting point of a trace.
    pub fn new(program: &Program, source: &Source, state: &Snapshot) -> Initial {
        let memory = program.places.iter().zip(&state.memory);
        let processes = program.processes.iter().zip(&state.configs);
        Initial {
            memory: memory
                .map(|(place, value)| (place.name.clone(), *value))
                .collect(),
            locals: processes
                .map(|(process, config)| (process.name.clone(), locals(process, config)))
                .collect(),
            at: at(program, source, state),
        }
    }
}

impl Step {
    /// One step of a trace.
    pub fn new(program: &Program, source: &Source, taken: &TraceStep) -> Step {
        let process = program.process(taken.process);
        let location = describe::step_location(source, process, &taken.step);
        let (place, value) = match taken.step.effect {
            Effect::Flush(entry) => (Some(entry.place), Some(entry.value)),
            Effect::Store(place, value)
            | Effect::Load(place, value)
            | Effect::Update(place, value) => (Some(place), Some(value)),
            Effect::Local(value) => (None, value),
            Effect::Fence | Effect::Atomic => (None, None),
        };
        let config = &taken.after.configs[taken.process.index()];
        Step {
            process: process.name.clone(),
            file: location.and_then(|it| it.file).map(str::to_string),
            line: location.map(|it| it.at.line),
            column: location.map(|it| it.at.column),
            step: describe::step(program, source, process, &taken.step),
            flush: matches!(taken.step.effect, Effect::Flush(_)),
            kind: Some(match taken.step.effect {
                Effect::Flush(_) => StepKind::Flush,
                Effect::Store(..) => StepKind::Store,
                Effect::Load(..) => StepKind::Load,
                Effect::Update(..) => StepKind::Update,
                Effect::Local(_) => StepKind::Local,
                Effect::Fence => StepKind::Fence,
                Effect::Atomic => StepKind::Atomic,
            }),
            place: place.map(|place| program.places[place.index()].name.clone()),
            value,
            locals: locals(process, config),
            memory: memory(program, &taken.after),
            buffers: buffers(program, &taken.after),
            at: at(program, source, &taken.after),
        }
    }

    /// The steps of a trace.
    pub fn all(program: &Program, source: &Source, trace: &Trace) -> Vec<Step> {
        let steps = trace.steps.iter();
        steps
            .map(|taken| Step::new(program, source, taken))
            .collect()
    }
}

/// The locals of a process by name.
pub(crate) fn locals(process: &Process, config: &Config) -> BTreeMap<String, Value> {
    let locals = process.locals.iter().zip(&config.locals);
    locals
        .map(|(local, value)| (local.name.clone(), *value))
        .collect()
}

fn at(program: &Program, source: &Source, state: &Snapshot) -> BTreeMap<String, u32> {
    let processes = program.processes.iter().zip(&state.configs);
    let next = processes.filter_map(|(process, config)| {
        let span = match config.at {
            At::Loc(at) => process.edges_from(at).next()?.1.span,
            At::Failed(failure) => failure.span,
        };
        let location = source.location(span.start);
        let own = location.file.is_none();
        own.then(|| (process.name.clone(), location.at.line))
    });
    next.collect()
}

fn memory(program: &Program, state: &Snapshot) -> Map<String, Json> {
    let places = program.places.iter().zip(&state.memory);
    places
        .map(|(place, value)| (place.name.clone(), json!(value)))
        .collect()
}

fn buffers(program: &Program, state: &Snapshot) -> Map<String, Json> {
    let processes = program.processes.iter().zip(&state.configs);
    let pending = processes.filter(|(_, config)| !config.buffers.is_empty());
    pending
        .map(|(process, config)| (process.name.clone(), entries(program, &config.buffers)))
        .collect()
}

fn entries(program: &Program, buffers: &Buffers) -> Json {
    let mut all = Vec::new();
    for segment in buffers.segments() {
        if segment.marker.store_store {
            all.push(json!({ "fence": "ss" }));
        }
        if segment.marker.store_load {
            all.push(json!({ "fence": "sl" }));
        }
        for store in &segment.head {
            let place = &program.places[store.place.index()].name;
            all.push(json!({ "place": place, "value": store.value }));
        }
        for stores in &segment.unordered {
            let place = &program.places[stores.place.index()].name;
            let set: Vec<Value> = stores.set.iter().map(|entry| entry.value).collect();
            let latest = stores.latest.map(|latest| latest.value);
            all.push(json!({ "place": place, "set": set, "latest": latest }));
        }
    }
    Json::Array(all)
}
