//! Certificates hold, and whatever is changed in one is noticed.

use fencesmith::certificate::{CheckOptions, Refusal, certificate, check};
use fencesmith::fences;
use fencesmith::import::Format;
use fencesmith::infer::hitting::{Costs, MOST_COST};
use fencesmith::infer::{self, AllowedGaps, Clause, Conclusion, InferOptions, Placement};
use fencesmith::lang::resolve::resolve;
use fencesmith::limits::{Limits, Monitor, StopReason};
use fencesmith::lower::{compile, lower};
use fencesmith::memory::{Abstraction, Atomics, Model, Semantics};
use fencesmith::program::{FenceKind, FencePoint, PointId, PointSet, Program};
use fencesmith::property::Violation;
use fencesmith::record::{Certificate, Claim, PriceList};
use fencesmith::source::Source;
use fencesmith::space::Standstill;
use fencesmith::verify::{Verdict, VerifyOptions, verify};
use fencesmith_testing::{foreign, programs};
use serde_json::{Value, json};

fn load(file: &str) -> (Source, Program) {
    let path = format!("{}/algorithms/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the program is there");
    let source = Source::new(file, text);
    let program = compile(&source).expect("it compiles");
    (source, program)
}

/// The certificate of the placement that is found.
fn certified(source: &Source, program: &Program, options: &InferOptions) -> Value {
    let found = infer::infer(program, options, &Monitor::default());
    let placement = match &found.conclusion {
        Conclusion::Placed(placed) => &placed.best,
        Conclusion::Correct(none) => none,
        other => panic!("{}: {other:?}", source.name()),
    };
    json_of(
        &certificate(
            source,
            program,
            options,
            placement,
            &found.clauses,
            &Monitor::default(),
        )
        .expect("there is no limit"),
    )
}

fn certify(source: &Source, program: &Program, model: Model, place: AllowedGaps) -> Value {
    let allowed = infer::allowed(program, place).into_iter();
    let costs: Costs = allowed.map(|allowed| allowed.then_some(1)).collect();
    let options = InferOptions::new(VerifyOptions::refining(model), costs);
    certified(source, program, &options)
}

fn json_of(certificate: &Certificate) -> Value {
    serde_json::to_value(certificate).expect("it is JSON")
}

fn checked_with(
    source: &Source,
    program: &Program,
    json: &Value,
    options: &CheckOptions,
) -> Result<Claim, Refusal> {
    let certificate = serde_json::from_value(json.clone()).map_err(|error| error.to_string())?;
    check(source, program, &certificate, options, &Monitor::default())
}

fn checked(source: &Source, program: &Program, json: &Value) -> Result<Claim, String> {
    let options = CheckOptions {
        threads: 1,
        ..CheckOptions::default()
    };
    checked_with(source, program, json, &options).map_err(|refusal| match refusal {
        Refusal::Rejected(why) => why,
        Refusal::Limit(reason) => panic!("there is no limit: {reason}"),
    })
}

#[test]
fn placements_are_certified_optimal() {
    let cases = [
        ("mutex/peterson.fen", Model::Pso, 2),
        ("mutex/peterson.fen", Model::Tso, 1),
        ("paper/lam0.fen", Model::Pso, 2),
        ("paper/fast0.fen", Model::Pso, 3),
        ("paper/fast1c.fen", Model::Pso, 2),
        ("paper/clh0.fen", Model::Pso, 1),
        ("queue/chase-lev.fen", Model::Tso, 1),
    ];
    for (file, model, cost) in cases {
        let (source, program) = load(file);
        let json = certify(&source, &program, model, AllowedGaps::Anywhere);
        let claim = checked(&source, &program, &json).expect(file);
        let costs = (claim.cost, claim.lower_bound);
        assert_eq!(costs, (cost, cost), "{file} {model}");
        assert_eq!(claim.placement.len() as u64, cost, "{file} {model}");
        let points = (claim.allowed_points, claim.all_points);
        assert_eq!(points, (program.points.len(), program.points.len()));
        assert_eq!((claim.prices, claim.free_points), (PriceList::Uniform, 0));
        assert_eq!((claim.model, claim.fuse), (model, true));
        let executions = &json["lower_bound"]["executions"];
        assert_eq!(Some(claim.executions), executions.as_array().map(Vec::len));
    }
}

#[test]
fn restricted_and_separate_points_are_certified() {
    let (source, program) = load("mutex/peterson.fen");
    let restricted = certify(&source, &program, Model::Pso, AllowedGaps::AfterStore);
    let claim = checked(&source, &program, &restricted).expect("it holds");
    assert_eq!((claim.cost, claim.allowed_points), (2, 3));
    assert!(claim.all_points > 3 && !claim.per_process);

    let each = program.per_process();
    let separate = certify(&source, &each, Model::Pso, AllowedGaps::Anywhere);
    let claim = checked(&source, &program, &separate).expect("it holds");
    assert_eq!((claim.cost, claim.lower_bound), (4, 4));
    assert!(claim.per_process && claim.all_points == each.points.len());
}

#[test]
fn tampering_is_noticed() {
    let (source, program) = load("paper/fast0.fen");
    let original = certify(&source, &program, Model::Pso, AllowedGaps::Anywhere);
    assert!(checked(&source, &program, &original).is_ok());
    let executions = &original["lower_bound"]["executions"];
    let fenced = |execution: &Value| {
        execution["fences"]
            .as_array()
            .is_some_and(|f| !f.is_empty())
    };
    let mut all = executions.as_array().expect("executions").iter();
    assert!(all.next_back().is_some_and(fenced));

    type Change = fn(&mut Value);
    let changes: [(&str, &str, Change); 36] = [
        ("schema", "schema", |c| c["schema"] = "other".into()),
        ("hash", "another program", |c| c["sha256"] = "00".into()),
        ("model", "execution", |c| c["model"] = "tso".into()),
        ("SC", "SC", |c| c["model"] = "sc".into()),
        ("unknown model", "`arm`", |c| c["model"] = "arm".into()),
        ("unknown atomics", "`none`", |c| {
            c["atomics"] = "none".into()
        }),
        ("steps", "execution 1: step", |c| c["fuse"] = false.into()),
        ("separate points", "no fence can be typed", |c| {
            c["per_process"] = true.into()
        }),
        ("a field more", "unknown field", |c| c["note"] = "".into()),
        ("cost", "placement: it costs 3", |c| c["cost"] = 2.into()),
        ("a fence less", "placement: it costs 2", |c| {
            drop(list(c, "/placement").pop())
        }),
        ("a fence less, cheaper", "proof", |c| {
            list(c, "/placement").pop();
            c["cost"] = 2.into();
        }),
        ("a fence twice", "placement: ", |c| {
            repeat(list(c, "/placement"));
            c["cost"] = 4.into();
        }),
        ("a fence twice at its price", "is listed twice", |c| {
            repeat(list(c, "/placement"));
        }),
        ("a fence elsewhere", "proof", |c| {
            c["placement"][0] = c["points"][0]["point"].clone();
        }),
        ("a fence nowhere", "no fence can be typed", |c| {
            c["placement"][0]["at"] = "1:1".into();
        }),
        ("a fence of a process", "no fence can be typed", |c| {
            c["placement"][0]["process"] = "p[0]".into();
        }),
        ("a point twice", "points: ", |c| repeat(list(c, "/points"))),
        ("a point at two prices", "is listed twice", |c| {
            repeat(list(c, "/points"));
            c["points"][0]["cost"] = 0.into();
        }),
        ("a point nowhere", "no fence can be typed", |c| {
            c["points"][0]["point"]["at"] = "1:1".into();
        }),
        ("a forbidden fence", "no fence may stand", |c| {
            let fence = c["placement"][0].clone();
            list(c, "/points").retain(|priced| priced["point"] != fence);
        }),
        ("a huge price", "larger than 1,000,000,000,000", |c| {
            c["points"][0]["cost"] = (MOST_COST + 1).into();
        }),
        ("prices that wrap around", "larger than", |c| {
            for priced in list(c, "/points") {
                priced["cost"] = (1u64 << 63).into();
            }
            c["cost"] = 0.into();
            c["lower_bound"]["cost"] = 0.into();
        }),
        ("free fences", "placement: it costs 0", |c| {
            for priced in list(c, "/points") {
                priced["cost"] = 0.into();
            }
        }),
        ("coarser", "proof", |c| c["proof"]["k"] = 0.into()),
        ("finer", "proof: it has", |c| c["proof"]["k"] = 3.into()),
        ("unknown abstraction", "`none`", |c| {
            c["proof"]["abstraction"] = "none".into()
        }),
        ("an abstraction that proves less", "set proves no", |c| {
            c["proof"]["abstraction"] = "set".into()
        }),
        ("states", "proof: it has", |c| {
            c["proof"]["states"] = 7.into()
        }),
        ("a higher bound", "lower bound", |c| {
            c["lower_bound"]["cost"] = 4.into()
        }),
        ("no executions", "lower bound: its executions show 0", |c| {
            list(c, "/lower_bound/executions").clear();
        }),
        ("an execution twice", "it is listed twice", |c| {
            repeat(list(c, "/lower_bound/executions"));
        }),
        ("a stronger demand", "would prevent it as well", |c| {
            list(c, "/lower_bound/executions/3/points").truncate(1);
        }),
        ("a demand for a point twice", "is listed twice", |c| {
            repeat(list(c, "/lower_bound/executions/3/points"));
        }),
        ("a step less", "execution 1", |c| {
            list(c, "/lower_bound/executions/0/steps").remove(1);
        }),
        ("another start", "cannot start", |c| {
            c["lower_bound"]["executions"][2]["initial"]["memory"]["x"] = 1.into();
        }),
    ];
    let noticed = |name: &str, expected: &str, change: &dyn Fn(&mut Value)| {
        let mut json = original.clone();
        change(&mut json);
        assert_ne!(json, original, "{name} changes nothing");
        match checked(&source, &program, &json) {
            Ok(claim) => panic!("{name} is not noticed: {claim:?}"),
            Err(why) => assert!(why.contains(expected), "{name}: {why}"),
        }
    };
    for (name, expected, change) in changes {
        noticed(name, expected, &change);
    }
    let count = executions.as_array().expect("executions").len();
    for index in 0..count {
        let path = format!("/lower_bound/executions/{index}");
        noticed("an execution cut short", "nothing is wrong", &|c| {
            drop(list(c, &format!("{path}/steps")).pop());
        });
        noticed(
            "fences that stop it",
            &format!("execution {}", index + 1),
            &|c| {
                let points = list(c, &format!("{path}/points")).clone();
                list(c, &format!("{path}/fences")).extend(points);
            },
        );
        noticed("a fence that is no point", "no fence can be typed", &|c| {
            list(c, &format!("{path}/fences")).push(json!({ "at": "1:1" }));
        });
        let fences = list(&mut original.clone(), &format!("{path}/fences")).len();
        if fences > 0 {
            noticed("its fence twice", "is listed twice", &|c| {
                repeat(list(c, &format!("{path}/fences")));
            });
        }
    }
}

/// A certificate names points as people do, so every point must have a name of its own.
#[test]
fn every_point_has_a_name_of_its_own() {
    let folders = programs::folders();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let names = programs::names(&folders);
    let native = names
        .iter()
        .map(|name| (Format::Fen, programs::source(name)));
    let mut count = 0;
    for (format, source) in native.chain(foreign::all()) {
        let ast = foreign::ast(format, &source, &[]);
        let symbols = resolve(&ast).expect("it resolves");
        let shared = lower(&ast, &symbols);
        for program in [shared.per_process(), shared] {
            for index in 0..program.points.len() {
                let point = PointId(index as u32);
                let name = fences::name(&program, &source, point);
                let place = name.parse().expect("a name is a place");
                let process = &program.points[index].process;
                let own = |other: &FencePoint| other.process == *process;
                let found = fences::find_in(&program, &source, &place, own);
                assert_eq!(found, Ok(point), "{} {name} {process:?}", source.name());
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count}");
}

/// Executions that are not needed for the lower bound may be left out, and the bound is
/// never higher than what the rest shows.
#[test]
fn executions_left_out() {
    let (source, program) = load("mutex/peterson.fen");
    let original = certify(&source, &program, Model::Pso, AllowedGaps::Anywhere);
    let count = original["lower_bound"]["executions"]
        .as_array()
        .map(Vec::len);
    let mut weaker = 0;
    for index in 0..count.expect("executions") {
        let mut json = original.clone();
        list(&mut json, "/lower_bound/executions").remove(index);
        match checked(&source, &program, &json) {
            Ok(claim) => assert_eq!((claim.cost, claim.lower_bound), (2, 2)),
            Err(why) => {
                assert!(why.contains("lower bound: its executions show"), "{why}");
                weaker += 1;
                json["lower_bound"]["cost"] = 1.into();
                let claim = checked(&source, &program, &json).expect("it shows less");
                assert_eq!((claim.cost, claim.lower_bound), (2, 1));
            }
        }
    }
    assert!(weaker > 0);
}

/// The certificate chooses prices and points; the claim says so.
#[test]
fn claims_name_their_prices() {
    let (source, program) = load("litmus/sb.fen");
    let mut json = certify(&source, &program, Model::Tso, AllowedGaps::Anywhere);
    for priced in list(&mut json, "/points") {
        priced["cost"] = 0.into();
    }
    json["cost"] = 0.into();
    json["lower_bound"]["cost"] = 0.into();
    let claim = checked(&source, &program, &json).expect("nothing costs less than 0");
    assert_eq!((claim.cost, claim.placement.len()), (0, 2));
    let free = (claim.prices, claim.free_points);
    assert_eq!(free, (PriceList::Own, program.points.len()));

    for priced in list(&mut json, "/points") {
        priced["cost"] = MOST_COST.into();
    }
    json["cost"] = (2 * MOST_COST).into();
    json["lower_bound"]["cost"] = (2 * MOST_COST).into();
    let claim = checked(&source, &program, &json).expect("the largest prices are allowed");
    assert_eq!((claim.prices, claim.free_points), (PriceList::Own, 0));

    let placement = json["placement"].clone();
    list(&mut json, "/points").retain(|priced| {
        let fences = placement.as_array().expect("a list");
        fences.contains(&priced["point"])
    });
    let claim = checked(&source, &program, &json).expect("these two are allowed");
    assert_eq!(claim.allowed_points, 2);
}

/// A lock that needs fences only if atomics do not drain all buffers.
#[test]
fn atomics_and_steps_are_part_of_the_claim() {
    let (source, program) = load("paper/clh0.fen");
    let semantics = |atomics, fuse| Semantics {
        atomics,
        fuse,
        ..Semantics::new(Model::Pso, Abstraction::Fd { k: 1 })
    };
    let certificate = |atomics, fuse| {
        let verify = VerifyOptions {
            semantics: semantics(atomics, fuse),
            ..VerifyOptions::refining(Model::Pso)
        };
        let costs = vec![Some(1); program.points.len()];
        certified(&source, &program, &InferOptions::new(verify, costs))
    };
    let (all, place) = (Atomics::DrainAll, Atomics::DrainPlace);
    let cases = [(all, true, 0), (place, true, 1), (all, false, 0)];
    for (atomics, fuse, cost) in cases {
        let json = certificate(atomics, fuse);
        let claim = checked(&source, &program, &json).expect("it holds");
        assert_eq!((claim.atomics, claim.fuse), (atomics, fuse));
        assert_eq!(claim.cost, cost);
        let with = |atomics, fuse| {
            let options = CheckOptions {
                atomics,
                fuse,
                threads: 1,
                ..CheckOptions::default()
            };
            checked_with(&source, &program, &json, &options)
        };
        assert_eq!(with(Some(atomics), Some(fuse)), Ok(claim));
        let other = if atomics == all { place } else { all };
        let expected = format!("it is about --atomics {atomics}, not --atomics {other}");
        let refused = Err(Refusal::Rejected(expected));
        assert_eq!(with(Some(other), None), refused);
        assert!(with(None, Some(!fuse)).is_err());

        let mut changed = json.clone();
        changed["atomics"] = other.name().into();
        let why = checked(&source, &program, &changed).expect_err("the atomics differ");
        assert!(why.contains("proof") || why.contains("execution"), "{why}");
        let mut changed = json.clone();
        changed["fuse"] = (!fuse).into();
        match checked(&source, &program, &changed) {
            // There may be as many states, and then all of it holds for the other steps.
            Ok(claim) => assert_eq!(claim.fuse, !fuse),
            Err(why) => assert!(why.contains("proof") || why.contains("execution"), "{why}"),
        }
    }
}

/// An execution that gets stuck violates no property, and so demands no fence.
#[test]
fn deadlocks_show_no_lower_bound() {
    let text = "shared bool x; process p { bool r; store x = true; load r = x; assume(!r); }";
    let source = Source::new("stuck.fen", text);
    let program = compile(&source).expect("it compiles");
    let exact = Abstraction::Exact { bound: 2 };
    let found = verify(
        &program.fenced(&PointSet::new()),
        &VerifyOptions {
            standstill: Standstill::Deadlock,
            ..VerifyOptions::new(Model::Tso, exact)
        },
        &Monitor::default(),
    );
    assert_eq!(found.verdict, Verdict::Violated);
    let (violation, trace) = found.into_trace().expect("it gets stuck");
    assert_eq!(violation, Violation::Deadlock);

    let proof = VerifyOptions::refining(Model::Tso);
    let all: PointSet = (0..program.points.len() as u32).map(PointId).collect();
    let fences = PointSet::from([PointId(1)]);
    let abstraction = Abstraction::Fd { k: 1 };
    let proved = verify(&program.fenced(&fences), &proof, &Monitor::default());
    let options = InferOptions::new(proof, vec![Some(1); all.len()]);
    let placement = Placement {
        fences,
        cost: 1,
        abstraction,
        thresholds: Default::default(),
        states: proved.statistics.states,
        kinds: vec![FenceKind::Full],
        price: None,
        why: Vec::new(),
    };
    let clause = Clause {
        points: all,
        real: true,
        fences: PointSet::new(),
        violation,
        trace,
    };
    let forged = json_of(
        &certificate(
            &source,
            &program,
            &options,
            &placement,
            &[clause],
            &Monitor::default(),
        )
        .expect("there is no limit"),
    );
    assert_eq!(forged["lower_bound"]["cost"], 1);
    let why = checked(&source, &program, &forged).expect_err("no fence is needed");
    assert_eq!(why, "execution 1: nothing is wrong at its end");
}

#[test]
fn limits_leave_a_certificate_open() {
    let (source, program) = load("mutex/peterson.fen");
    let json = certify(&source, &program, Model::Pso, AllowedGaps::Anywhere);
    let options = CheckOptions {
        threads: 1,
        limits: Limits {
            max_states: Some(10),
            ..Limits::default()
        },
        ..CheckOptions::default()
    };
    let refusal = checked_with(&source, &program, &json, &options);
    assert_eq!(refusal, Err(Refusal::Limit(StopReason::MaxStates)));
}

fn list<'a>(json: &'a mut Value, path: &str) -> &'a mut Vec<Value> {
    let found = json.pointer_mut(path).and_then(Value::as_array_mut);
    found.expect("the list is there")
}

/// Appends the first entry of a list once more.
fn repeat(list: &mut Vec<Value>) {
    let first = list[0].clone();
    list.push(first);
}
