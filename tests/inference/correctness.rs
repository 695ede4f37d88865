//! Certificates of correctness hold, and whatever is taken away from one or put into it is
//! noticed.

use fencesmith::certificate::{
    CheckOptions, Refusal, certificate_of_correctness, check_correctness,
};
use fencesmith::limits::{Limits, Monitor, StopReason};
use fencesmith::memory::{Abstraction, Model};
use fencesmith::program::{PointId, PointSet, Program};
use fencesmith::record::{CorrectnessCertificate, CorrectnessClaim};
use fencesmith::source::Source;
use fencesmith::verify::{FIRST_WIDENING, Strategy, Verdict, VerifyOptions, verify};
use fencesmith_testing::programs;
use fencesmith_testing::programs::header::{Answer, Problem, Question};
use serde_json::Value;

fn by_logs(model: Model) -> VerifyOptions {
    let widening = FIRST_WIDENING;
    VerifyOptions {
        strategy: Strategy::Refine,
        ..VerifyOptions::new(model, Abstraction::Logs { widening })
    }
}

/// The certificate of a program that is correct with these fences.
fn certify(
    source: &Source,
    program: &Program,
    fences: &PointSet,
    options: &VerifyOptions,
) -> CorrectnessCertificate {
    let monitor = Monitor::default();
    let answer = verify(&program.fenced(fences), options, &monitor);
    assert_eq!(answer.verdict, Verdict::Correct, "{}", source.name());
    let made = certificate_of_correctness(source, program, fences, options, &answer, &monitor);
    made.expect("there is no limit")
}

fn check(
    source: &Source,
    program: &Program,
    certificate: &CorrectnessCertificate,
) -> Result<CorrectnessClaim, Refusal> {
    let options = CheckOptions {
        threads: 1,
        ..CheckOptions::default()
    };
    check_correctness(source, program, certificate, &options, &Monitor::default())
}

/// What is said of a certificate that was changed.
fn rejected(source: &Source, program: &Program, certificate: &CorrectnessCertificate) -> String {
    match check(source, program, certificate) {
        Err(Refusal::Rejected(why)) => why,
        other => panic!("{}: {other:?}", source.name()),
    }
}

/// Every program of the suite that is correct is proved by view logs, and the proof holds.
#[test]
fn the_suite_is_proved_twice() {
    programs::check(&programs::all(), |_, source| {
        let program = programs::program(source);
        let header = programs::header(source);
        let models = [Model::Sc, Model::Tso, Model::Pso];
        let correct = models
            .into_iter()
            .filter(|&model| header.fact(Question::Verdict(model)).answer == Answer::Correct);
        let wrong = correct.filter_map(|model| {
            let certificate = certify(source, &program, &PointSet::new(), &by_logs(model));
            assert!(certificate.proof.invariant.is_some());
            let why = check(source, &program, &certificate).err()?;
            Some(Problem(1, format!("{model}: {why:?}")))
        });
        wrong.collect()
    });
}

/// A certificate of a proof by another engine is checked by doing the proof again.
#[test]
fn other_engines_are_asked_again() {
    let source = programs::source("mutex/peterson");
    let program = programs::program(&source);
    let fences: PointSet = (0..program.points.len() as u32).map(PointId).collect();
    let options = VerifyOptions::refining(Model::Pso);
    let mut certificate = certify(&source, &program, &fences, &options);
    assert!(certificate.proof.invariant.is_none());
    check(&source, &program, &certificate).expect("it holds");
    certificate.fences.clear();
    assert_eq!(
        rejected(&source, &program, &certificate),
        "proof: the fenced program is wrong"
    );
}

const PROGRAMS: [(&str, Model); 4] = [
    ("protocol/alternating-bit", Model::Tso),
    ("protocol/increasing-sequence", Model::Pso),
    ("protocol/producer-consumer-2", Model::Tso),
    ("litmus/sb+sl", Model::Pso),
];

/// The certificate as data, with every change of the given kind.
fn changed(
    certificate: &CorrectnessCertificate,
    change: &dyn Fn(&mut Value) -> Vec<Value>,
) -> Vec<CorrectnessCertificate> {
    let mut json = serde_json::to_value(certificate).expect("it is JSON");
    let all = change(&mut json["proof"]["invariant"]);
    let all = all.into_iter().map(|invariant| {
        json["proof"]["invariant"] = invariant;
        // Whoever forges one counts right.
        json["proof"]["states"] = json["proof"]["invariant"]["states"]
            .as_array()
            .map(|states| states.len())
            .into();
        serde_json::from_value(json.clone()).expect("it is a certificate")
    });
    all.collect()
}

/// An array without each of its elements.
fn without_each(array: &Value) -> Vec<Value> {
    let elements = array.as_array().expect("it is an array");
    let left = (0..elements.len()).map(|at| {
        let mut left = elements.clone();
        left.remove(at);
        Value::from(left)
    });
    left.collect()
}

/// A state that is taken away is missed by the one that leads to it, or by the start.
#[test]
fn no_state_can_be_left_out() {
    for (name, model) in PROGRAMS {
        let source = programs::source(name);
        let program = programs::program(&source);
        let certificate = certify(&source, &program, &PointSet::new(), &by_logs(model));
        let forged = changed(&certificate, &|invariant| {
            let states = without_each(&invariant["states"]);
            let states = states.into_iter().enumerate().map(|(gone, states)| {
                let mut invariant = invariant.clone();
                invariant["states"] = states;
                // Whoever forges one keeps the references in order, too.
                for state in invariant["states"].as_array_mut().expect("an array") {
                    for next in state["next"].as_array_mut().expect("an array") {
                        let old = next.as_u64().expect("a number");
                        *next = (old - u64::from(old > gone as u64)).into();
                    }
                }
                invariant
            });
            states.collect()
        });
        for certificate in forged {
            rejected(&source, &program, &certificate);
        }
    }
}

/// A member of a set, a part of a log, a letter of a part: all of them are needed.
#[test]
fn nothing_can_be_narrowed() {
    for (name, model) in PROGRAMS {
        let source = programs::source(name);
        let program = programs::program(&source);
        let certificate = certify(&source, &program, &PointSet::new(), &by_logs(model));
        let mut tried = 0;
        for kind in 0.. {
            let forged = changed(&certificate, &|invariant| {
                let process = &invariant["processes"][kind];
                let mut all = Vec::new();
                for (at, set) in process["sets"].as_array().into_iter().flatten().enumerate() {
                    for smaller in without_each(set) {
                        let mut invariant = invariant.clone();
                        invariant["processes"][kind]["sets"][at] = smaller;
                        all.push(invariant);
                    }
                }
                let members = process["members"].as_array().into_iter().flatten();
                for (at, member) in members.enumerate() {
                    let moments = member.get("moments").and_then(Value::as_array);
                    for (part, moment) in moments.into_iter().flatten().enumerate() {
                        for smaller in without_each(moment) {
                            let mut invariant = invariant.clone();
                            let member = &mut invariant["processes"][kind]["members"][at];
                            match smaller.as_array().is_some_and(Vec::is_empty) {
                                true => {
                                    let moments = member["moments"].as_array_mut();
                                    moments.expect("an array").remove(part);
                                }
                                false => member["moments"][part] = smaller,
                            }
                            all.push(invariant);
                        }
                    }
                }
                all
            });
            if forged.is_empty() {
                break;
            }
            tried += forged.len();
            for certificate in forged {
                rejected(&source, &program, &certificate);
            }
        }
        assert!(tried > 5, "{name}: {tried}");
    }
}

/// What a log is said to hold and does not leads somewhere that no state holds.
#[test]
fn nothing_can_be_widened() {
    let source = programs::source("protocol/alternating-bit");
    let program = programs::program(&source);
    let certificate = certify(&source, &program, &PointSet::new(), &by_logs(Model::Tso));
    let forged = changed(&certificate, &|invariant| {
        let mut all = Vec::new();
        for kind in 0..2 {
            let process = &invariant["processes"][kind];
            let snapshots = process["snapshots"].as_array().map_or(0, Vec::len);
            let members = process["members"].as_array().map_or(0, Vec::len);
            for member in 0..members {
                let mut wider = invariant.clone();
                let everything: Vec<usize> = (0..snapshots).collect();
                wider["processes"][kind]["members"][member]["moments"] =
                    serde_json::json!([everything]);
                if wider != *invariant {
                    all.push(wider);
                }
            }
        }
        all
    });
    let accepted = forged
        .iter()
        .filter(|certificate| check(&source, &program, certificate).is_ok());
    // Where nothing is loaded before the next update of the log, more moments make no difference.
    assert!(forged.len() > 5 && accepted.count() * 2 < forged.len());
}

/// A certificate is about one text, with all of its properties.
#[test]
fn a_property_cannot_be_dropped() {
    let source = programs::source("protocol/alternating-bit");
    let program = programs::program(&source);
    let certificate = certify(&source, &program, &PointSet::new(), &by_logs(Model::Tso));
    let weaker = source.text().replace("<= 1;", "<= 3;");
    let weaker = Source::new(source.name(), weaker);
    let other = programs::program(&weaker);
    assert_eq!(
        rejected(&weaker, &other, &certificate),
        "it is about another program: the hash of the text differs"
    );
}

/// The states of a program prove nothing about one that is wrong, whatever the hash says.
#[test]
fn a_wrong_program_has_no_proof() {
    let source = programs::source("protocol/producer-consumer-2");
    let program = programs::program(&source);
    let certificate = certify(&source, &program, &PointSet::new(), &by_logs(Model::Tso));
    for model in [Model::Sc, Model::Pso] {
        let other = CorrectnessCertificate {
            model,
            ..certificate.clone()
        };
        let checked = check(&source, &program, &other);
        // What holds under TSO holds under SC; the states of TSO may be closed there, too.
        assert!(checked.is_err() || model == Model::Sc);
    }
}

/// A process that accesses one cell of an array, and one that accesses another.
const CELLS: &str = "
    shared bool flag[3];
    process p { store flag[0] = true; store flag[0] = false; }
    process q { bool r; load r = flag[0]; load r = flag[2]; }
    forbid flag[1];
";

/// Whatever number is written in place of another, nobody panics, and nothing is accepted that
/// has fewer states than the program.
#[test]
fn any_number_may_be_wrong() {
    let cells = Source::new("cells.fen", CELLS);
    let subjects = [
        (programs::source("litmus/mp"), Model::Tso),
        (cells, Model::Pso),
    ];
    for (source, model) in subjects {
        let program = programs::program(&source);
        let certificate = certify(&source, &program, &PointSet::new(), &by_logs(model));
        let text = serde_json::to_string(&certificate.proof.invariant).expect("it is JSON");
        let digits: Vec<usize> = (text.char_indices())
            .filter(|(_, letter)| letter.is_ascii_digit())
            .map(|(at, _)| at)
            .collect();
        for at in digits {
            for other in ["0", "1", "7", "99", "-3"] {
                let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                if let Ok(invariant) = serde_json::from_str(&changed) {
                    let mut forged = certificate.clone();
                    forged.proof.invariant = Some(invariant);
                    let _ = check(&source, &program, &forged);
                }
            }
        }
    }
}

/// A queue belongs to a place that the process accesses.
#[test]
fn a_queue_of_a_place_that_is_not_accessed() {
    let source = Source::new("cells.fen", CELLS);
    let program = programs::program(&source);
    let certificate = certify(&source, &program, &PointSet::new(), &by_logs(Model::Pso));
    let text = serde_json::to_string(&certificate.proof.invariant).expect("it is JSON");
    let changed = text.replace("\"place\":0", "\"place\":1");
    assert_ne!(text, changed);
    let mut forged = certificate.clone();
    forged.proof.invariant = serde_json::from_str(&changed).expect("it is an invariant");
    let why = rejected(&source, &program, &forged);
    assert!(why.contains("a place that it does not access"), "{why}");
}

/// A limit is an outcome of its own.
#[test]
fn a_limit_is_no_rejection() {
    let source = programs::source("protocol/task-scheduling");
    let program = programs::program(&source);
    let certificate = certify(&source, &program, &PointSet::new(), &by_logs(Model::Pso));
    let options = CheckOptions {
        threads: 1,
        limits: Limits {
            max_memory: Some(1000),
            ..Limits::default()
        },
        ..CheckOptions::default()
    };
    let checked = check_correctness(
        &source,
        &program,
        &certificate,
        &options,
        &Monitor::default(),
    );
    assert_eq!(checked, Err(Refusal::Limit(StopReason::MaxMemory)));
}
