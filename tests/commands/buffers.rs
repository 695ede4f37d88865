//! `buffers`, and `convert` to programs with buffers as variables.

use crate::binary::{algorithm, run, run_on};
use serde_json::Value;

#[test]
fn lengths_of_buffers() {
    let ring = run(&["buffers", &algorithm("queue/ring"), "--model", "tso"]);
    assert_eq!(ring.code, 0, "{}", ring.stderr);
    let text = "algorithms/queue/ring.fen under TSO: at most 2 stores pending\n  producer  2\n  consumer  1\n";
    assert!(ring.stdout.starts_with(text), "{}", ring.stdout);
    let peterson = algorithm("mutex/peterson");
    let open = run(&["buffers", &peterson, "--model", "tso"]);
    assert_eq!(open.code, 1);
    let loops = "filled by `store ent[i] = true` (18:9) in the loop from 18:9 to 26:9";
    assert!(open.stdout.contains(loops), "{}", open.stdout);
    let quiet = run(&["buffers", &peterson, "--quiet"]);
    assert_eq!(quiet.stdout.lines().count(), 2, "{}", quiet.stdout);
}

#[test]
fn what_is_not_known_says_what_to_try() {
    let the = algorithm("queue/the");
    let short = run(&["buffers", &the, "--model", "tso", "--bound", "2"]);
    assert_eq!(short.code, 3, "{}", short.stdout);
    let text = "not known: buffers up to 2 were not enough; try a larger --bound";
    assert!(short.stdout.contains(text), "{}", short.stdout);
    let limited = run(&["buffers", &the, "--max-states", "20", "--format", "json"]);
    assert_eq!(limited.code, 3);
    let answers: Value = serde_json::from_str(&limited.stdout).expect("it is JSON");
    assert_eq!(answers[0]["stopped"], "states");
    assert_eq!(answers[0]["outcome"], "inconclusive");
}

/// With too few blocks of memory a process ends early: nothing is shown about longer buffers.
#[test]
fn the_heap_counts() {
    let text = "#include <pthread.h>
#include <stdlib.h>
int *volatile list;
static void *p(void *unused) {
    for (int i = 0; i < 3; i++) {
        int *new = malloc(sizeof *new);
        *new = i;
        list = new;
    }
    return NULL;
}
static void *q(void *unused) { int *l = list; return l && *l ? l : NULL; }
int main(void) {
    pthread_t s, t;
    pthread_create(&s, NULL, p, NULL);
    pthread_create(&t, NULL, q, NULL);
}
";
    let ask = |heap: &str| {
        let arguments = [
            "buffers", "-", "--from", "c", "--model", "tso", "--heap", heap,
        ];
        run_on(&arguments, text, &[])
    };
    let short = ask("2");
    assert_eq!(short.code, 3, "{}{}", short.stdout, short.stderr);
    assert!(
        short.stdout.contains("try a larger --heap"),
        "{}",
        short.stdout
    );
    let enough = ask("3");
    assert_eq!(enough.code, 0, "{}{}", enough.stdout, enough.stderr);
    assert!(
        enough.stdout.contains("at most 6 stores"),
        "{}",
        enough.stdout
    );
}

#[test]
fn wrong_command_lines() {
    let sc = run(&["buffers", &algorithm("litmus/sb"), "--model", "sc"]);
    assert_eq!(sc.code, 2);
    let missing = run(&["buffers", "missing.fen"]);
    assert_eq!(missing.code, 2);
    let c = run(&["convert", "algorithms/c/bakery.c", "--to", "direct"]);
    assert_eq!(c.code, 2);
    assert!(
        c.stderr.contains("C programs cannot be printed"),
        "{}",
        c.stderr
    );
    let text = "shared bool x; process p { store x = true; fence sl; }";
    let refused = run_on(&["convert", "-", "--to", "c"], text, &[]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("<stdin>:1:44"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("give a --model"),
        "{}",
        refused.stderr
    );
}

/// The printed program says how an overflow is told from a violation.
#[test]
fn overflows_are_named() {
    let peterson = algorithm("mutex/peterson");
    let arguments = [
        "convert", &peterson, "--model", "tso", "--bound", "1", "--to",
    ];
    for language in ["direct", "rba"] {
        let printed = run(&[&arguments[..], &[language]].concat()).stdout;
        let room = "pending < buffer_bound";
        assert!(printed.contains(&format!("fails `{room}`")), "{printed}");
        let verify = ["verify", "-", "--model", "sc"];
        let found = run_on(&verify, &printed, &[]);
        assert_eq!(found.code, 1);
        assert!(
            found.stdout.contains(&format!("assert({room})")),
            "{}",
            found.stdout
        );
        let waiting = run(&[&arguments[..], &[language, "--overflow", "wait"]].concat());
        let found = run_on(&verify, &waiting.stdout, &[]);
        assert_eq!(found.code, 1);
        assert!(found.stdout.contains("mutex critical"), "{}", found.stdout);
    }
}
