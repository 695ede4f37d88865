//! From the checked syntax tree to the program form.

mod process;
mod property;
mod sugar;

use crate::diagnostic::Diagnostic;
use crate::lang::ast::{self, Ast, ExprKind, Item};
use crate::lang::parser::parse;
use crate::lang::resolve::{Instance, SharedVariable, Symbols, Template, resolve};
use crate::program::{
    Expr, FencePoint, FenceSite, Label, LocalId, Place, PlaceId, PointId, Process, Program, Value,
    loop_depths,
};
use crate::source::Source;
use process::Automaton;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// From source text to the program form, or everything that is wrong with the text.
pub fn compile(source: &Source) -> Result<Program, Vec<Diagnostic>> {
    let ast = parse(source)?;
    let symbols = resolve(&ast)?;
    Ok(lower(&ast, &symbols))
}

/// Lowers a program that has passed all checks.
pub fn lower(ast: &Ast, symbols: &Symbols) -> Program {
    let shared = SharedPlaces::new(symbols);
    let scope = Scope {
        symbols,
        shared: &shared,
        own: None,
    };
    let properties: Vec<ast::Property> = ast
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Property(property) => Some(property::unquantified(property, symbols)),
            _ => None,
        })
        .collect();
    let mut program = Program {
        places: places(&symbols.shared),
        processes: Vec::new(),
        points: Vec::new(),
        unreachable: Vec::new(),
        properties: Vec::new(),
        addresses: BTreeMap::new(),
        ordered: BTreeSet::new(),
    };
    let mut located = Vec::new();
    let mut stores = 0;
    let mut copied = HashMap::new();
    for (index, template) in symbols.templates.iter().enumerate() {
        let Item::Process(item) = &ast.items[template.item] else {
            unreachable!("a template names a process item");
        };
        let named = property::named_labels(&properties, &template.name);
        let mut points = None;
        for instance in &template.instances {
            let local = scope.instance(template, instance);
            let Automaton {
                mut process,
                sites,
                unreachable,
                labels,
                copies,
            } = process::automaton(item, &local, &named, index, &mut stores);
            let points = points.get_or_insert_with(|| {
                program.unreachable.extend(unreachable);
                let copied = copies.then_some(&mut copied);
                number_points(&mut program.points, index, &sites, &process, copied)
            });
            for (location, point) in process.locations.iter_mut().zip(points.iter()) {
                location.point = *point;
            }
            program.processes.push(process);
            located.push(labels);
        }
    }
    if !copied.is_empty() {
        // Control may come to one copy of a site and not to another.
        let reached = |site: &FenceSite| program.points.iter().any(|p| p.sites.contains(site));
        program.unreachable.retain(|site| !reached(site));
        program.unreachable.sort();
        program.unreachable.dedup();
    }
    program.properties = property::lower(&properties, &scope, &mut program.processes, &located);
    program.finish();
    program
}

fn places(shared: &[SharedVariable]) -> Vec<Place> {
    let cell = |variable: &SharedVariable, index: usize| Place {
        name: match variable.len {
            Some(_) => match variable.columns {
                None => format!("{}[{index}]", variable.name),
                Some(columns) => {
                    let (row, column) = (index as u32 / columns, index as u32 % columns);
                    format!("{}[{row}][{column}]", variable.name)
                }
            },
            None => variable.name.clone(),
        },
        domain: variable.domain,
        initial: variable.initial[index],
        pointer: false,
    };
    shared
        .iter()
        .flat_map(|variable| (0..variable.initial.len()).map(move |index| cell(variable, index)))
        .collect()
}

/// Makes one fence point of every location that has sites, in source order, and says which
/// point each location is. The instances of a template have the same shape, so this is
/// done for the first one. Where macros are called, all copies of a gap are one point, those in
/// other templates included: `copied` knows the points of such templates by their sites.
fn number_points(
    points: &mut Vec<FencePoint>,
    template: usize,
    sites: &[Vec<FenceSite>],
    process: &Process,
    mut copied: Option<&mut HashMap<Vec<FenceSite>, PointId>>,
) -> Vec<Option<PointId>> {
    let depths = loop_depths(process);
    let mut order: Vec<(u32, usize, Vec<FenceSite>)> = Vec::new();
    for (location, sites) in sites.iter().enumerate() {
        let mut sites = sites.clone();
        sites.sort_by_key(FenceSite::preference);
        if let Some(first) = sites.first() {
            order.push((first.offset(), location, sites));
        }
    }
    order.sort();
    let mut ids = vec![None; process.locations.len()];
    for (_, location, sites) in order {
        let new = PointId(points.len() as u32);
        if let Some(copied) = &mut copied {
            let known = *copied.entry(sites.clone()).or_insert(new);
            if known != new {
                let point = &mut points[known.index()];
                point.depth = point.depth.max(depths[location]);
                ids[location] = Some(known);
                continue;
            }
        }
        ids[location] = Some(new);
        points.push(FencePoint {
            template,
            process: None,
            sites,
            depth: depths[location],
        });
    }
    ids
}

/// The first place of each shared variable, by its name.
struct SharedPlaces<'a>(HashMap<&'a str, (PlaceId, &'a SharedVariable)>);

impl<'a> SharedPlaces<'a> {
    fn new(symbols: &'a Symbols) -> SharedPlaces<'a> {
        let mut next = 0;
        let place = |variable: &'a SharedVariable| {
            let first = PlaceId(next);
            next += variable.initial.len() as u32;
            (variable.name.as_str(), (first, variable))
        };
        SharedPlaces(symbols.shared.iter().map(place).collect())
    }
}

/// What names mean: shared variables everywhere, constants and a process's own names.
struct Scope<'a> {
    symbols: &'a Symbols,
    shared: &'a SharedPlaces<'a>,
    own: Option<ProcessNames<'a>>,
}

/// The names of one process.
struct ProcessNames<'a> {
    template: &'a Template,
    instance: &'a Instance,
    locals: HashMap<&'a str, LocalId>,
}

impl<'a> Scope<'a> {
    fn instance(&self, template: &'a Template, instance: &'a Instance) -> Scope<'a> {
        let locals = instance.locals.iter().enumerate();
        let locals = locals.map(|(index, local)| (local.name.as_str(), LocalId(index as u32)));
        Scope {
            own: Some(ProcessNames {
                template,
                instance,
                locals: locals.collect(),
            }),
            ..*self
        }
    }

    fn shared(&self, name: &str) -> (PlaceId, &'a SharedVariable) {
        *self.shared.0.get(name).expect("shared names were checked")
    }

    fn constant(&self, name: &str) -> Option<Value> {
        let parameter = self.own.as_ref().and_then(|own| {
            let parameter = own.template.parameter.as_deref()?;
            own.instance.parameter.filter(|_| parameter == name)
        });
        parameter.or_else(|| self.symbols.consts.get(name).copied())
    }

    fn local(&self, name: &str) -> Option<LocalId> {
        self.own.as_ref()?.locals.get(name).copied()
    }

    /// The first cell of an array of the process, and the number of cells.
    fn array(&self, name: &str) -> Option<(LocalId, u32)> {
        let (first, len) = *self.own.as_ref()?.template.arrays.get(name)?;
        Some((LocalId(first as u32), len))
    }

    /// An expression of process code.
    fn expr(&self, expr: &ast::Expr) -> Expr<LocalId> {
        self.lowered(expr, None)
    }

    /// As [`Scope::expr`], where a local may hold the value of what is shared.
    fn lowered(&self, expr: &ast::Expr, read: Option<LocalId>) -> Expr<LocalId> {
        let lowered = expr.lowered(&|kind| match (kind, read) {
            (
                ExprKind::Name(name)
                | ExprKind::Cell {
                    name: ast::Name { text: name, .. },
                    ..
                },
                Some(read),
            ) if self.shared.0.contains_key(name.as_str()) => Expr::Atom(read),
            (ExprKind::Name(name), _) => match self.local(name) {
                Some(local) => Expr::Atom(local),
                None => Expr::Const(self.constant(name).expect("names were checked")),
            },
            (ExprKind::Cell { name, index }, _) => {
                let array = self.array(&name.text).expect("arrays were checked");
                sugar::cell(array, self.lowered(index, read))
            }
            _ => unreachable!("process code was checked"),
        });
        lowered.over_integers(&|local: &LocalId| {
            let own = self.own.as_ref().expect("a process has names");
            own.instance.locals[local.index()].domain.is_unbounded()
        })
    }
}

/// Hands out the labels of stores, program-wide.
fn fresh_label(stores: &mut u32) -> Label {
    *stores += 1;
    Label(*stores - 1)
}

#[cfg(test)]
mod tests {
    use super::compile;
    use crate::source::Source;

    /// The number of loops around each fence point, in source order.
    fn depths(body: &str) -> Vec<u32> {
        let text = format!("shared bool x; process p {{ bool r; {body} }} forbid x;");
        let program = compile(&Source::new("t.fen", text)).expect("it compiles");
        program.points.iter().map(|point| point.depth).collect()
    }

    #[test]
    fn loops_around_a_point() {
        assert_eq!(depths("skip; skip;"), [0, 0, 0]);
        assert_eq!(depths("while (*) { skip; } skip;"), [0, 1, 1, 0, 0]);
        // One loop with two ways back: before and at A, behind it, and around the jumps.
        assert_eq!(
            depths("A: skip; if (r) goto A; if (*) goto A; skip;"),
            [0, 1, 1, 1, 1, 1, 0, 0]
        );
        // A loop inside another, both by jumps.
        assert_eq!(
            depths("A: skip; B: skip; if (r) goto B; if (*) goto A; skip;"),
            [0, 1, 1, 2, 2, 2, 1, 1, 0, 0]
        );
    }
}
