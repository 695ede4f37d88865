//! Certificates hold, and whatever is changed in one is noticed.

use fencesmith::certificate::{Checked, certificate, check};
use fencesmith::infer::{self, AllowedGaps, Conclusion};
use fencesmith::limits::{Limits, Monitor};
use fencesmith::lower::compile;
use fencesmith::memory::Model;
use fencesmith::program::Program;
use fencesmith::record::Certificate;
use fencesmith::source::Source;
use fencesmith::verify::VerifyOptions;
use serde_json::Value;

fn load(file: &str) -> (Source, Program) {
    let path = format!("{}/algorithms/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the program is there");
    let source = Source::new(file, text);
    let program = compile(&source).expect("it compiles");
    (source, program)
}

fn certify(source: &Source, program: &Program, model: Model, place: AllowedGaps) -> Certificate {
    let allowed = infer::allowed(program, place).into_iter();
    let options = infer::InferOptions {
        ..infer::InferOptions::new(
            VerifyOptions::refining(model),
            allowed.map(|allowed| allowed.then_some(1)).collect(),
        )
    };
    let found = infer::infer(program, &options, &Monitor::default());
    let Conclusion::Placed(placed) = &found.conclusion else {
        panic!("{}: {:?}", source.name(), found.conclusion);
    };
    certificate(source, program, &options, &placed.best, &found.clauses)
}

fn checked(source: &Source, program: &Program, json: &Value) -> Result<Checked, String> {
    let certificate = serde_json::from_value(json.clone()).map_err(|error| error.to_string())?;
    let limits = Limits::default();
    check(
        source,
        program,
        &certificate,
        1,
        &limits,
        &Monitor::default(),
    )
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
        let certificate = certify(&source, &program, model, AllowedGaps::Anywhere);
        let json = serde_json::to_value(&certificate).expect("it is JSON");
        let checked = checked(&source, &program, &json).expect(file);
        assert_eq!(
            (checked.cost, checked.lower_bound),
            (cost, cost),
            "{file} {model}"
        );
        assert_eq!(checked.allowed, None);
    }
}

#[test]
fn restricted_and_separate_points_are_certified() {
    let (source, program) = load("mutex/peterson.fen");
    let restricted = certify(&source, &program, Model::Pso, AllowedGaps::AfterStore);
    let json = serde_json::to_value(&restricted).expect("it is JSON");
    let found = checked(&source, &program, &json).expect("it holds");
    assert!(found.allowed.is_some() && found.cost == 2);

    let separate = certify(
        &source,
        &program.per_process(),
        Model::Pso,
        AllowedGaps::Anywhere,
    );
    let json = serde_json::to_value(&separate).expect("it is JSON");
    let found = checked(&source, &program, &json).expect("it holds");
    assert_eq!((found.cost, found.lower_bound), (4, 4));
}

#[test]
fn tampering_is_noticed() {
    let (source, program) = load("paper/fast0.fen");
    let certificate = certify(&source, &program, Model::Pso, AllowedGaps::Anywhere);
    let original = serde_json::to_value(&certificate).expect("it is JSON");
    assert!(checked(&source, &program, &original).is_ok());

    type Change = fn(&mut Value);
    let changes: [(&str, &str, Change); 19] = [
        ("schema", "schema", |c| c["schema"] = "other".into()),
        ("hash", "another program", |c| c["sha256"] = "00".into()),
        ("model", "execution", |c| c["model"] = "tso".into()),
        ("SC", "SC", |c| c["model"] = "sc".into()),
        ("unknown model", "memory model", |c| {
            c["model"] = "arm".into()
        }),
        ("atomics", "atomics", |c| c["atomics"] = "none".into()),
        ("cost", "placement: it costs 3", |c| c["cost"] = 2.into()),
        ("a fence less", "placement: it costs 2", |c| {
            drop(list(c, "/placement").pop())
        }),
        ("a fence less, cheaper", "proof", |c| {
            list(c, "/placement").pop();
            c["cost"] = 2.into();
        }),
        ("a fence elsewhere", "proof", |c| {
            c["placement"][0] = c["points"][0]["point"].clone();
        }),
        ("a fence nowhere", "no fence can be typed", |c| {
            c["placement"][0]["at"] = "1:1".into();
        }),
        ("coarser", "proof", |c| c["proof"]["k"] = 0.into()),
        ("abstraction", "abstraction", |c| {
            c["proof"]["abstraction"] = "set".into()
        }),
        ("states", "proof: it has", |c| {
            c["proof"]["states"] = 7.into()
        }),
        ("a higher bound", "lower bound", |c| {
            c["lower_bound"]["cost"] = 4.into()
        }),
        ("an execution less", "lower bound", |c| {
            list(c, "/lower_bound/executions").truncate(1);
        }),
        ("a stronger demand", "would prevent it as well", |c| {
            list(c, "/lower_bound/executions/3/points").truncate(1);
        }),
        ("a step less", "execution 1", |c| {
            list(c, "/lower_bound/executions/0/steps").remove(1);
        }),
        ("another start", "cannot start", |c| {
            c["lower_bound"]["executions"][2]["initial"]["memory"]["x"] = 1.into();
        }),
    ];
    for (name, expected, change) in changes {
        let mut json = original.clone();
        change(&mut json);
        assert_ne!(json, original, "{name} changes nothing");
        match checked(&source, &program, &json) {
            Ok(checked) => panic!("{name} is not noticed: {checked:?}"),
            Err(why) => assert!(why.contains(expected), "{name}: {why}"),
        }
    }
    let mut json = original.clone();
    json["lower_bound"]["executions"][1]["steps"]
        .as_array_mut()
        .expect("steps")
        .truncate(2);
    assert!(checked(&source, &program, &json).is_err());
}

fn list<'a>(json: &'a mut Value, path: &str) -> &'a mut Vec<Value> {
    let found = json.pointer_mut(path).and_then(Value::as_array_mut);
    found.expect("the list is there")
}
