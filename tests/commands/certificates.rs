//! Costs and certificates as a person sees them.

use crate::binary::{Ran, algorithm, file, run};
use fencesmith::memory::Atomics;
use fencesmith::record::{CheckAnswer, CheckOutcome, PriceList};
use serde_json::Value;

const SB: &str = "litmus/sb";

/// Infers with a file of costs.
fn with_costs(costs: &str, more: &[&str]) -> Ran {
    let (_folder, path) = file("costs.json", costs);
    let path = path.display().to_string();
    let sb = algorithm(SB);
    let common = ["infer", &sb, "--model", "tso", "--cost", &path];
    run(&[&common[..], more].concat())
}

/// A cost that is too large, or no cost, is shown where it stands.
#[test]
fn costs_are_bounded() {
    let cases = [
        (
            "{\"15:5:after\": 1000000000001}",
            "a cost is at most 1,000,000,000,000",
            "costs.json:1:16",
        ),
        (
            "{\n  \"21:5\": 3,\n  \"15:5:after\":\n    9223372036854775808\n}",
            "a cost is at most",
            "costs.json:4:5",
        ),
        (
            "{\"15:5\": 1, \"16:5\": 99999999999999999999999}",
            "expected a whole number from 0 to 1,000,000,000,000",
            "costs.json:1:21",
        ),
        ("{\"15:5\": -1}", "expected a whole", "costs.json:1:10"),
        ("{\"15:5\": 1.5}", "expected a whole", "costs.json:1:10"),
        ("{\"15:5\": \"1\"}", "expected a whole", "costs.json:1:"),
        ("{\"1:1\": 1}", "no fence can be typed", "costs.json:1:9"),
        (
            "{\"x\": 12}",
            "'x' is not [FILE:]LINE:COL, [FILE:]LINE:COL:before or [FILE:]LINE:COL:after",
            "costs.json:1:7",
        ),
        (
            "{\"15:5\": 1,\n \"15:5:before\": 2}",
            "the cost of a fence at 15:5:before is given twice",
            "costs.json:2:17",
        ),
        ("[1]", "expected an object", "costs.json:1:"),
        ("{\"15:5\": 1} 2", "trailing", "costs.json:1:13"),
        ("{\"15:5\"", "EOF", "costs.json:1:"),
        ("", "EOF", "costs.json:1:1"),
    ];
    for (costs, message, place) in cases {
        let ran = with_costs(costs, &[]);
        assert_eq!(ran.code, 2, "{costs}: {ran:?}");
        for part in [message, place, "help: "] {
            assert!(ran.stderr.contains(part), "{costs}: {part}\n{}", ran.stderr);
        }
        assert!(ran.stdout.is_empty(), "{ran:?}");
    }
    let help = run(&["infer", "--help"]).stdout;
    assert!(help.contains("none more than 10^12"), "{help}");
    for refused in ["1001,2,1", "3,2", "3,2,-1", "18446744073709551615,1,1"] {
        let fine = ["--kinds", "fine", "--kind-cost", refused];
        let ran = with_costs("{}", &fine);
        assert_eq!(ran.code, 2, "{refused}: {ran:?}");
        assert!(ran.stderr.contains("from 0 to 1000"), "{}", ran.stderr);
    }
}

/// The largest costs that are allowed add up, and the cheaper way is taken.
#[test]
fn large_costs_add_up() {
    let most = 1_000_000_000_000u64;
    let costs = format!("{{\"15:5:after\": {most}, \"21:5:after\": {most}}}");
    let ran = with_costs(
        &costs,
        &[
            "--format",
            "json",
            "--kinds",
            "fine",
            "--kind-cost",
            "1000,999,998",
        ],
    );
    let answers: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let placement = &answers[0]["placement"];
    assert_eq!(placement["cost"], 2 * most);
    assert_eq!(placement["optimality"], "exact");
    assert_eq!(placement["kinds_cost"], 999 * 2 * most);
}

/// A file of costs is about the fences of all instances of a template.
#[test]
fn costs_of_separate_instances() {
    let (_folder, path) = file("costs.json", "{\"19:9:after\": 7}");
    let path = path.display().to_string();
    let peterson = algorithm("mutex/peterson");
    let arguments = [
        "infer",
        &peterson,
        "--model",
        "tso",
        "--per-process",
        "--cost",
        &path,
    ];
    let place = ["--place", "after-store", "--format", "json"];
    let ran = run(&[&arguments[..], &place].concat());
    let answers: Vec<Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(answers[0]["placement"]["cost"], 14, "{ran:?}");
}

/// Writes a certificate, and keeps its folder.
fn certified(program: &str, more: &[&str]) -> (tempfile::TempDir, String) {
    let (folder, path) = file("certificate.json", "");
    let path = path.display().to_string();
    let certify = ["infer", program, "--certificate", &path];
    let ran = run(&[&certify[..], more].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    (folder, path)
}

fn check(program: &str, certificate: &str, more: &[&str]) -> Ran {
    run(&[&["check", program, "--certificate", certificate], more].concat())
}

/// The answer as data; it is what the text says.
fn answer(program: &str, certificate: &str, more: &[&str]) -> CheckAnswer {
    let text = check(program, certificate, more);
    let json = check(
        program,
        certificate,
        &[more, &["--format", "json"]].concat(),
    );
    assert_eq!(json.code, text.code, "{text:?}");
    let answer: CheckAnswer = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(
        (&answer.command[..], &answer.program[..]),
        ("check", program)
    );
    assert!(text.stdout.contains(&answer.reason), "{text:?}");
    assert_eq!(answer.claim.is_some(), text.code == 0);
    answer
}

#[test]
fn checks_say_what_they_rest_on() {
    let peterson = algorithm("mutex/peterson");
    let (_folder, path) = certified(&peterson, &["--model", "pso"]);
    let ran = check(&peterson, &path, &[]);
    let expected = "\
algorithms/mutex/peterson.fen under PSO with --atomics drain-place: the certificate holds: 2 fences make it correct at cost 2, and no placement costs less
  proof: 288 states by FD(k=1)
  lower bound: cost 2, by 3 executions of PSO
  allowed: full fences at all 11 points
  prices: 1 at each point
  atomics: drain-place, by the certificate
  steps: fused, by the certificate
";
    assert_eq!((ran.code, &ran.stdout[..]), (0, expected));

    let more = [
        "--model",
        "pso",
        "--place",
        "after-store",
        "--no-fuse",
        "--per-process",
    ];
    let (_folder, path) = certified(&peterson, &more);
    let ran = check(&peterson, &path, &["--atomics", "drain-place", "--no-fuse"]);
    for part in [
        "under PSO with --atomics drain-place --no-fuse: the certificate holds: 4 fences make it correct at cost 4, and no placement at the 6 of 22 points that it allows costs less\n",
        "  allowed: full fences at 6 of 22 points, separately in each process\n",
        "  atomics: drain-place, as asked\n",
        "  steps: one instruction each, as asked\n",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
}

/// A lock that needs no fence if atomics drain all buffers, and one otherwise.
#[test]
fn checks_insist_on_what_was_asked() {
    let clh = algorithm("paper/clh0");
    let (_folder, path) = certified(&clh, &["--model", "pso", "--atomics", "drain-all"]);
    let open = answer(&clh, &path, &[]);
    assert_eq!(open.outcome, CheckOutcome::Valid);
    assert_eq!(open.claim.expect("it holds").atomics, Atomics::DrainAll);
    let text = check(&clh, &path, &[]).stdout;
    assert!(
        text.contains("under PSO with --atomics drain-all: "),
        "{text}"
    );
    assert!(
        text.contains("atomics: drain-all, by the certificate"),
        "{text}"
    );
    let same = answer(&clh, &path, &["--atomics", "drain-all"]);
    assert_eq!(same.outcome, CheckOutcome::Valid);

    let other = answer(&clh, &path, &["--atomics", "drain-place"]);
    assert_eq!(other.outcome, CheckOutcome::Rejected);
    assert_eq!(
        other.reason,
        "is rejected: it is about --atomics drain-all, not --atomics drain-place"
    );
    let unfused = answer(&clh, &path, &["--no-fuse"]);
    assert_eq!(unfused.outcome, CheckOutcome::Rejected);
    assert_eq!(
        unfused.reason,
        "is rejected: it is about fused steps, not one instruction per step"
    );
    assert_eq!(check(&clh, &path, &["--no-fuse"]).code, 1);
    let few = answer(&clh, &path, &["--max-states", "10"]);
    assert_eq!(few.outcome, CheckOutcome::Inconclusive);
    assert_eq!(check(&clh, &path, &["--max-states", "10"]).code, 3);
    let help = run(&["check", "--help"]).stdout;
    for part in ["--atomics", "--no-fuse"] {
        let (_, rest) = help.split_once(part).expect("it is listed");
        let (rest, _) = rest.split_once("\n  -").expect("others follow");
        assert!(rest.contains("Accept only a certificate"), "{rest}");
    }
}

/// That a placement costs nothing does not mean that it is empty.
#[test]
fn fences_that_cost_nothing() {
    let sb = algorithm(SB);
    let (_costs, costs) = file("costs.json", "{\"15:5:after\": 0, \"21:5:after\": 0}");
    let costs = costs.display().to_string();
    let (_folder, path) = certified(&sb, &["--model", "tso", "--cost", &costs]);
    let found = answer(&sb, &path, &[]);
    assert_eq!(
        found.reason,
        "holds: 2 fences make it correct at cost 0, and no placement costs less at its own prices"
    );
    let claim = found.claim.expect("it holds");
    assert_eq!((claim.cost, claim.placement.len()), (0, 2));
    assert_eq!((claim.prices, claim.free_points), (PriceList::Own, 2));
    let text = check(&sb, &path, &[]).stdout;
    assert!(
        text.contains("prices: the certificate's own, nothing at 2 points"),
        "{text}"
    );
}

/// That nothing is needed is said only of an empty placement.
#[test]
fn programs_that_need_nothing() {
    let mp = algorithm("litmus/mp");
    let (_folder, path) = certified(&mp, &["--model", "tso"]);
    let found = answer(&mp, &path, &[]);
    assert_eq!(found.reason, "holds: no fence is needed");
    let claim = found.claim.expect("it holds");
    assert_eq!((claim.placement.len(), claim.own_fences), (0, 0));
}

/// That a fence is not shown to be removable does not mean that it cannot be removed.
#[test]
fn fences_that_may_be_removable() {
    let peterson = std::fs::read_to_string(algorithm("mutex/peterson")).expect("the program");
    let fenced = peterson
        .replace("store ent[i] = true;", "store ent[i] = true; fence;")
        .replace("store turn = 1 - i;", "store turn = 1 - i; fence;");
    let (_folder, path) = file("peterson.fen", fenced);
    let path = path.display().to_string();
    let prune = |k, model| {
        let ran = run(&["infer", &path, "--prune", "--model", model, "--k", k]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    };
    let cases = [
        (
            "1",
            "tso",
            "none of the program's own 2 fences could be shown to be removable\n",
        ),
        (
            "2",
            "tso",
            "1 of the program's own 2 fences can be removed: line 18 'fence'\n",
        ),
        (
            "auto",
            "tso",
            "1 of the program's own 2 fences can be removed: line 18 'fence'\n",
        ),
        (
            "auto",
            "pso",
            "none of the program's own 2 fences can be removed\n",
        ),
    ];
    for (k, model, expected) in cases {
        let text = prune(k, model);
        assert!(text.contains(expected), "{k} {model}: {text}");
        assert!(text.contains("no further fence is needed"), "{text}");
    }
}

/// Optimal among the points that are allowed, and no more than that.
#[test]
fn optimality_is_that_of_the_allowed_points() {
    let text = "shared bool x, y;
process p { bool r; if (*) { store x = true; } else { store x = true; } load r = y; }
process q { bool r; store y = true; fence; load r = x; }
final p.r || q.r;
";
    let (_folder, path) = file("branches.fen", text);
    let path = path.display().to_string();
    let cases = [
        (
            "anywhere",
            "1 fence makes",
            "no placement with fewer fences",
        ),
        (
            "before-load",
            "1 fence makes",
            "no placement before loads with fewer fences",
        ),
        (
            "after-store",
            "2 fences make",
            "no placement behind stores with fewer fences",
        ),
    ];
    for (place, fences, none) in cases {
        let ran = run(&["infer", &path, "--model", "pso", "--place", place]);
        let expected = format!("{fences} it correct (optimal: {none} exists on PSO)");
        assert!(ran.stdout.contains(&expected), "{expected}\n{}", ran.stdout);
    }
}

/// `verify --certificate` writes what `check` accepts, for proofs by view logs and by others, and
/// nothing where there is no proof.
#[test]
fn certificates_of_correctness() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("proof.json").display().to_string();
    let sequence = algorithm("protocol/increasing-sequence");
    let cases: [(&[&str], &str); 3] = [
        (
            &["verify", &sequence, "--model", "tso"],
            "the certificate holds: the program is correct\n  proof: 4 sets of states by view logs\n",
        ),
        (
            &["verify", &algorithm("litmus/mp"), "--model", "tso"],
            "the certificate holds: the program is correct\n  proof: ",
        ),
        (
            &[
                "verify",
                &algorithm(SB),
                "--model",
                "pso",
                "--fence",
                "15:5:after,21:5:after",
            ],
            "the certificate holds: the program is correct with 2 fences\n  proof: ",
        ),
    ];
    for (question, expected) in cases {
        let ran = run(&[question, &["--certificate", &path]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let checked = run(&["check", question[1], "--certificate", &path]);
        assert_eq!(checked.code, 0, "{checked:?}");
        assert!(checked.stdout.contains(expected), "{checked:?}");
        let other = algorithm("litmus/lb");
        let other = run(&["check", &other, "--certificate", &path]);
        assert_eq!(other.code, 1, "{other:?}");
        assert!(other.stdout.contains("another program"), "{other:?}");
        let json = run(&[
            "check",
            question[1],
            "--certificate",
            &path,
            "--format",
            "json",
        ]);
        let json: CheckAnswer = serde_json::from_str(&json.stdout).expect("an answer");
        assert_eq!(json.outcome, CheckOutcome::Valid);
        assert!(json.correct.is_some() && json.claim.is_none());
    }
    std::fs::remove_file(&path).expect("it was written");
    let wrong = ["verify", &algorithm(SB), "--model", "tso", "--no-trace"];
    let ran = run(&[&wrong[..], &["--certificate", &path]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(!std::path::Path::new(&path).exists());
}

/// What a proof cannot be made of is said before any work is done.
#[test]
fn certificates_of_correctness_are_of_one_question() {
    let mp = algorithm("litmus/mp");
    let cases: [(&[&str], &str); 4] = [
        (&["--model", "tso,pso"], "needs a single --model"),
        (&["--model", "tso", "--search", "plain"], "no --search"),
        (&["--model", "tso", "--full"], "cannot be used with"),
        (&["--abs", "logs", "--full"], "cannot be used with"),
    ];
    for (options, expected) in cases {
        let ran = run(&[&["verify", &mp, "--certificate", "x"], options].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
    let ran = run(&["verify", &mp, "--abs", "logs", "--deadlock"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("--deadlock"), "{ran:?}");
}
