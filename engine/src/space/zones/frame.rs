//! A program without its integers: the frame, and what its edges do to the integers.
//!
//! In the frame, every integer is 0, in locals, places and buffers alike, so it is an ordinary
//! program with finitely many configurations and runs on the ordinary step relation. What was
//! left out stands beside each edge as a list of [`Datum`]s. An instruction whose expressions
//! have several cases becomes several edges. Where a case has conditions with bounds, they are
//! a guard in front of the instruction; guard and instruction are one step if the guard cannot
//! fail.

use super::way::{Part, Way, failing, integer, is_true};
use crate::memory::step::{At, Config};
use crate::program::{
    Case, Condition, Domain, Edge, EdgeId, Expr, Fault, Initial, Instr, Loc, LocalId, Location,
    PlaceId, PlaceRef, Process, ProcessId, Program, Sum, Update, Value, cases,
};
use crate::source::Span;

/// A program without its integers.
pub struct Frame {
    pub program: Program,
    /// Per process, per edge of the frame.
    edges: Vec<Vec<FrameEdge>>,
    /// Sums of two integers occur, or negations.
    pub octagon: bool,
}

/// What belongs to an edge of the frame.
#[derive(Debug, Clone)]
pub struct FrameEdge {
    /// What it does to integers, in order.
    pub data: Vec<Datum>,
    /// The edge of the program that it belongs to.
    origin: EdgeId,
    /// It is only a guard in front of what stands for that edge.
    front: bool,
}

/// Something that is done to integers.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// Goes on only if the sum is at most zero.
    AtMostZero(Sum<LocalId>),
    Assign(LocalId, Sum<LocalId>),
    /// Any integer.
    Any(LocalId),
    /// A load, a store, or what an update does: on the place that the frame accesses.
    Load(LocalId, PlaceRef),
    Store(PlaceRef, Sum<LocalId>),
    /// Within an atomic block: what follows belongs to the instruction with this span.
    Begin(Span),
}

impl Frame {
    pub fn new(program: &Program) -> Frame {
        let mut frame = Frame {
            program: program.clone(),
            edges: Vec::new(),
            octagon: false,
        };
        for place in &mut frame.program.places {
            if place.domain.is_unbounded() {
                place.initial = Initial::Value(0);
            }
        }
        for (process, original) in frame.program.processes.iter_mut().zip(&program.processes) {
            let builder = Builder {
                program,
                original,
                edges: Vec::new(),
                locations: original.locations.clone(),
                beside: Vec::new(),
            };
            let built = builder.build();
            process.edges = built.edges;
            process.locations = built.locations;
            frame.edges.push(built.beside);
            for local in &mut process.locals {
                if local.domain.is_unbounded() {
                    local.initial = Initial::Value(0);
                }
            }
        }
        frame.octagon = frame.has_sums(program);
        frame
    }

    /// What belongs to an edge.
    pub fn edge(&self, process: ProcessId, edge: EdgeId) -> &FrameEdge {
        &self.edges[process.index()][edge.index()]
    }

    /// The edges of the program that a way through the frame takes. What fails in a guard in
    /// front of an edge fails on that edge.
    pub fn origin(&self, process: ProcessId, path: &[EdgeId], next: &Config) -> Vec<EdgeId> {
        let failed = matches!(next.at, At::Failed(_));
        let taken = |(at, edge): (usize, &EdgeId)| {
            let edge = self.edge(process, *edge);
            let last = at + 1 == path.len();
            (!edge.front || last && failed).then_some(edge.origin)
        };
        path.iter().enumerate().filter_map(taken).collect()
    }

    /// Whether differences are not enough.
    fn has_sums(&self, program: &Program) -> bool {
        let all = self.edges.iter().flatten().flat_map(|edge| &edge.data);
        let code = all.into_iter().any(|datum| match datum {
            Datum::AtMostZero(sum) => !is_difference(sum),
            Datum::Assign(_, sum) | Datum::Store(_, sum) => {
                sum.integers.iter().any(|(_, factor)| *factor != 1)
            }
            Datum::Any(_) | Datum::Load(..) | Datum::Begin(_) => false,
        });
        let unbounded = |atom: &crate::program::Atom| program.is_integer(atom);
        let property = program.properties.iter().any(|property| {
            let cases = cases(&property.predicate, &unbounded);
            let mut conditions = cases.iter().flat_map(|case| &case.when);
            conditions.any(|condition| match condition {
                Condition::AtMostZero(sum) => !is_difference(sum),
                Condition::Finite { .. } => false,
            })
        });
        code || property
    }
}

/// It has at most one integer that is added and one that is taken away.
fn is_difference<A>(sum: &Sum<A>) -> bool {
    let count = |wanted| sum.integers.iter().filter(|(_, f)| *f == wanted).count();
    sum.integers.len() == count(1) + count(-1) && count(1) <= 1 && count(-1) <= 1
}

/// The frame of one process while it is made.
struct Builder<'a> {
    program: &'a Program,
    original: &'a Process,
    edges: Vec<Edge>,
    locations: Vec<Location>,
    beside: Vec<FrameEdge>,
}

impl Builder<'_> {
    fn build(mut self) -> Self {
        for location in &mut self.locations {
            location.out.clear();
        }
        for (index, edge) in self.original.edges.iter().enumerate() {
            let id = EdgeId(index as u32);
            for way in self.ways(&edge.instr) {
                self.add(edge, id, way);
            }
        }
        self
    }

    /// Adds the edges of one way, with a guard in front where there are conditions.
    fn add(&mut self, edge: &Edge, id: EdgeId, way: Way) {
        let Way {
            when,
            data,
            mut instr,
        } = way;
        let mut from = edge.from;
        if let (Instr::Skip | Instr::Pass, false) = (&instr, is_true(&when)) {
            instr = Instr::Guard {
                condition: when,
                wanted: true,
            };
        } else if !is_true(&when) {
            let domain = |local: &LocalId| self.original.locals[local.index()].domain;
            let fusable = when.interval(&domain).is_some();
            let behind = Loc(self.locations.len() as u32);
            self.locations.push(Location {
                live: vec![true; self.original.locals.len()],
                ..Location::default()
            });
            let guard = Instr::Guard {
                condition: when,
                wanted: true,
            };
            let front = Edge {
                from,
                to: behind,
                instr: guard,
                fusable,
                back: false,
                ..edge.clone()
            };
            let beside = FrameEdge {
                data: Vec::new(),
                origin: id,
                front: true,
            };
            self.push(front, beside);
            from = behind;
        }
        let edge = Edge {
            from,
            instr,
            ..edge.clone()
        };
        let beside = FrameEdge {
            data,
            origin: id,
            front: false,
        };
        self.push(edge, beside);
    }

    fn push(&mut self, edge: Edge, beside: FrameEdge) {
        let id = EdgeId(self.edges.len() as u32);
        self.locations[edge.from.index()].out.push(id);
        self.edges.push(edge);
        self.beside.push(beside);
    }

    /// All ways to perform an instruction; exactly one of them is possible.
    fn ways(&self, instr: &Instr) -> Vec<Way> {
        match instr {
            Instr::Pass | Instr::Skip | Instr::Fence(_) => vec![Way::plain(instr.clone())],
            Instr::Guard { condition, wanted } => {
                let cases = self.cases(condition);
                if cases.iter().all(|case| case.when.is_empty()) {
                    return vec![Way::plain(instr.clone())];
                }
                cases
                    .into_iter()
                    .filter_map(|case| case.guard(*wanted))
                    .collect()
            }
            Instr::Assert { condition, fault } => {
                let cases = self.cases(condition);
                if cases.iter().all(|case| case.when.is_empty()) {
                    return vec![Way::plain(instr.clone())];
                }
                let mut ways = Vec::new();
                for case in cases {
                    ways.extend(case.clone().guard(true));
                    if let Some(fails) = case.guard(false) {
                        ways.push(fails.with(failing(*fault)));
                    }
                }
                ways
            }
            Instr::Assign { local, value } => {
                let integer = self.is_integer(*local);
                let assigned = |case: Case<LocalId>| match integer {
                    true => case.kept().and(Datum::Assign(*local, case.value)),
                    false => {
                        let value = case.value.bounded().clone();
                        case.way().with(Instr::Assign {
                            local: *local,
                            value,
                        })
                    }
                };
                self.cases(value).into_iter().map(assigned).collect()
            }
            Instr::Havoc { local, low, high } if self.is_integer(*local) => {
                // The ends may speak of the value from before.
                let (value, old) = (integer(*local), self.spare());
                let begin = Way::skip().and(Datum::Assign(old, value.clone()));
                let mut ways = vec![(begin, Way::skip().and(Datum::Any(*local)))];
                for (end, sign) in [(low, -1), (high, 1)] {
                    if *end == Expr::Const(Domain::INTEGERS.low)
                        || *end == Expr::Const(Domain::INTEGERS.high)
                    {
                        continue;
                    }
                    let mut next = Vec::new();
                    for mut case in self.cases(end) {
                        for (atom, _) in &mut case.value.integers {
                            *atom = if atom == local { old } else { *atom };
                        }
                        // value − high ≤ 0, low − value ≤ 0
                        let zero = Sum::constant(0);
                        let gap = zero.plus(&value, sign).plus(&case.value, -sign);
                        let within = Datum::AtMostZero(gap);
                        for (before, chosen) in &ways {
                            let before = before.clone().then(case.kept());
                            next.push((before, chosen.clone().and(within.clone())));
                        }
                    }
                    ways = next;
                }
                ways.into_iter()
                    .map(|(before, chosen)| before.then(chosen))
                    .collect()
            }
            Instr::Havoc { .. } => vec![Way::plain(instr.clone())],
            Instr::Store {
                place,
                value,
                label,
            } => self.at(place, &|place| {
                let integer = self.is_integer_place(&place);
                let stored = |case: Case<LocalId>| {
                    let store = |value| Instr::Store {
                        place: place.clone(),
                        value,
                        label: *label,
                    };
                    match integer {
                        true => {
                            let way = case.kept().with(store(Expr::Const(0)));
                            way.and(Datum::Store(place.clone(), case.value))
                        }
                        false => case.way().with(store(case.value.bounded().clone())),
                    }
                };
                self.cases(value).into_iter().map(stored).collect()
            }),
            Instr::Load { local, place } => self.at(place, &|place| {
                let load = Way::plain(Instr::Load {
                    local: *local,
                    place: place.clone(),
                });
                vec![match self.is_integer(*local) {
                    true => load.and(Datum::Load(*local, place)),
                    false => load,
                }]
            }),
            Instr::Update {
                local,
                place,
                op,
                waits,
            } => self.at(place, &|place| match self.is_integer_place(&place) {
                true => self.updates(*local, &place, op, *waits),
                false => vec![Way::plain(Instr::Update {
                    local: *local,
                    place,
                    op: op.clone(),
                    waits: *waits,
                })],
            }),
            Instr::Atomic(body) => self.atomic(body),
        }
    }

    /// What an update of an integer can do. The frame's place is 0.
    fn updates(&self, local: LocalId, place: &PlaceRef, op: &Update, waits: bool) -> Vec<Way> {
        let update = |op| Instr::Update {
            local,
            place: place.clone(),
            op,
            waits,
        };
        let old = self.spare();
        let old_value = integer(old);
        let load = Datum::Load(old, place.clone());
        let store = |sum: Sum<LocalId>| Datum::Store(place.clone(), sum);
        let keep = Datum::Assign(local, old_value.clone());
        let zero = || Expr::Const(0);
        match op {
            Update::Swap(value) => {
                let swapped = |case: Case<LocalId>| {
                    let way = case.kept().with(update(Update::Swap(zero())));
                    way.and(load.clone())
                        .and(store(case.value))
                        .and(keep.clone())
                };
                self.cases(value).into_iter().map(swapped).collect()
            }
            Update::Apply(_, value) => {
                let added = |case: Case<LocalId>| {
                    let way = case.kept().with(update(Update::Swap(zero())));
                    let sum = old_value.plus(&case.value, 1);
                    way.and(load.clone()).and(store(sum)).and(keep.clone())
                };
                self.cases(value).into_iter().map(added).collect()
            }
            Update::Cas { expected, new } | Update::CasOld { expected, new } => {
                let leaves_old = matches!(op, Update::CasOld { .. });
                let one = Sum::constant(1);
                let mut ways = Vec::new();
                for expected in self.cases(expected) {
                    let below = old_value.plus(&expected.value, -1);
                    let above = expected.value.plus(&old_value, -1);
                    let begin = expected.kept().and(load.clone());
                    let found = |truth: bool, conditions: Vec<Sum<LocalId>>| {
                        // A comparison of the frame's 0 that goes as this one does.
                        let expected = Expr::Const(Value::from(!truth));
                        let new = zero();
                        let op = match leaves_old {
                            true => Update::CasOld { expected, new },
                            false => Update::Cas { expected, new },
                        };
                        let way = begin.clone().with(update(op));
                        let way = conditions
                            .into_iter()
                            .map(Datum::AtMostZero)
                            .fold(way, Way::and);
                        match leaves_old {
                            true => way.and(keep.clone()),
                            false => way,
                        }
                    };
                    for new in self.cases(new) {
                        let way = found(true, vec![below.clone(), above.clone()]);
                        ways.push(new.kept().then(way).and(store(new.value)));
                    }
                    ways.push(found(false, vec![below.plus(&one, 1)]));
                    ways.push(found(false, vec![above.plus(&one, 1)]));
                }
                ways
            }
        }
    }

    /// A block runs as one step: its ways are those of its instructions, one after the other.
    fn atomic(&self, body: &[(Instr, Span)]) -> Vec<Way> {
        let mut blocks = vec![Part::default()];
        for (instr, span) in body {
            let ways = self.ways(instr);
            let (failed, going): (Vec<Part>, Vec<Part>) =
                blocks.into_iter().partition(|block| block.failed);
            let longer = going.iter().flat_map(|block| {
                let longer = |way: &Way| block.clone().and(way, *span);
                ways.iter().map(longer)
            });
            blocks = failed.into_iter().chain(longer).collect();
        }
        let block = |Part { data, done, .. }| Way {
            data,
            ..Way::plain(Instr::Atomic(done))
        };
        blocks.into_iter().map(block).collect()
    }

    /// The ways of an instruction at a place whose index may be an integer.
    fn at(&self, place: &PlaceRef, ways: &dyn Fn(PlaceRef) -> Vec<Way>) -> Vec<Way> {
        let PlaceRef::Cell { first, len, index } = place else {
            return ways(place.clone());
        };
        let mut all = Vec::new();
        for case in self.cases(index) {
            if case.value.integers.is_empty() {
                let begin = case.way();
                let place = PlaceRef::Cell {
                    first: *first,
                    len: *len,
                    index: case.value.rest,
                };
                all.extend(ways(place).into_iter().map(|way| begin.clone().then(way)));
                continue;
            }
            let (begin, sum) = (case.kept(), case.value);
            let beyond = |by: Value| Datum::AtMostZero(sum.plus(&Sum::constant(by), 1));
            let before = |by: Value| Datum::AtMostZero(Sum::constant(by).plus(&sum, -1));
            let outside = failing(Some(Fault::OutsideArray { len: *len }));
            // index + 1 ≤ 0, len − index ≤ 0
            for outside_by in [beyond(1), before(Value::from(*len))] {
                all.push(begin.clone().with(outside.clone()).and(outside_by));
            }
            for cell in 0..*len {
                let cell_at = Value::from(cell);
                let here = begin.clone().and(beyond(-cell_at)).and(before(cell_at));
                let place = PlaceRef::Scalar(PlaceId(first.0 + cell));
                all.extend(ways(place).into_iter().map(|way| here.clone().then(way)));
            }
        }
        all
    }

    fn cases(&self, expr: &Expr<LocalId>) -> Vec<Case<LocalId>> {
        cases(expr, &|local| self.is_integer(*local))
    }

    /// A local that the process does not have, for what lasts no longer than a step.
    fn spare(&self) -> LocalId {
        LocalId(self.original.locals.len() as u32)
    }

    fn is_integer(&self, local: LocalId) -> bool {
        self.original.locals[local.index()].domain.is_unbounded()
    }

    fn is_integer_place(&self, place: &PlaceRef) -> bool {
        let place = match place {
            PlaceRef::Scalar(place) | PlaceRef::Cell { first: place, .. } => place,
            PlaceRef::Computed { .. } => return false,
        };
        self.program.places[place.index()].domain.is_unbounded()
    }
}
