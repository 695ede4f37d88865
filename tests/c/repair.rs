//! Memory orders made stronger: what is written compiles, and is correct.

use crate::run::{Folder, gcc_accepts};
use std::path::Path;

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("algorithms/c");
    std::fs::read_to_string(folder.join(name)).expect("it can be read")
}

/// Repairs a program by stronger orders, and verifies what was written.
fn repaired(name: &str, model: &str, repair: &str) -> String {
    let folder = Folder::new();
    folder.write(name, &text(name));
    let arguments = [
        "infer", name, "--model", model, "--repair", repair, "--emit", "new.c",
    ];
    let ran = folder.run(&arguments);
    assert_eq!(ran.code, 0, "{name}: {}{}", ran.stdout, ran.stderr);
    gcc_accepts(&folder, &["new.c"]);
    let again = folder.run(&["verify", "new.c", "--model", model]);
    assert_eq!(again.code, 0, "{name}: {}", again.stdout);
    folder.read("new.c")
}

/// The lines that differ, as they are now.
fn changes(name: &str, new: &str) -> Vec<String> {
    let old = text(name);
    let pairs = old.lines().zip(new.lines());
    let changed = pairs.filter(|(old, new)| old != new);
    changed.map(|(_, new)| new.trim().to_string()).collect()
}

#[test]
fn the_weakest_order_that_does_it() {
    let release = "atomic_store_explicit(&y, 1, memory_order_release);";
    let new = repaired("mp.c", "pso", "orders");
    assert_eq!(changes("mp.c", &new), [release]);
    let stores = ["x", "y"]
        .map(|place| format!("atomic_store_explicit(&{place}, 1, memory_order_seq_cst);"));
    for model in ["tso", "pso"] {
        let new = repaired("sb.c", model, "orders");
        assert_eq!(changes("sb.c", &new), stores);
    }
}

#[test]
fn orders_or_fences() {
    for name in ["mp.c", "sb.c", "peterson.c", "message.c", "r.c", "2+2w.c"] {
        for model in ["tso", "pso"] {
            repaired(name, model, "any");
        }
    }
    // A release is cheaper than a fence.
    let new = repaired("mp.c", "pso", "any");
    assert!(!new.contains("atomic_thread_fence"), "{new}");
}

#[test]
fn only_c_has_orders() {
    let folder = Folder::new();
    folder.write(
        "sb.fen",
        "shared bool x; process p { store x = true; } forbid x;",
    );
    let ran = folder.run(&["infer", "sb.fen", "--repair", "orders"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("--repair"), "{}", ran.stderr);
}

/// The heap: what is allocated beyond `--heap` is neither right nor wrong.
#[test]
fn an_exhausted_heap_is_inconclusive() {
    let folder = Folder::new();
    let program = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n\
        struct node { struct node *next; };\nstatic struct node *top;\n\
        static void *push(void *arg)\n{\n    for (int i = 0; i < 6; i++) {\n        \
        struct node *n = malloc(sizeof *n);\n        n->next = top;\n        top = n;\n    }\n    \
        return NULL;\n}\n\
        int main(void)\n{\n    pthread_t t;\n    pthread_create(&t, NULL, push, NULL);\n    \
        pthread_join(t, NULL);\n    assert(top != NULL);\n    return 0;\n}\n";
    folder.write("push.c", program);
    let ran = folder.run(&["verify", "push.c", "--model", "tso"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(ran.stdout.contains("--heap"), "{}", ran.stdout);
    let ran = folder.run(&["verify", "push.c", "--model", "tso", "--heap", "1"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    let ran = folder.run(&["verify", "push.c", "--model", "tso", "--heap", "6"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    // What is wrong is wrong with any heap.
    let wrong = program.replace("i < 6; i++) {", "i < 6; i++) {\n        assert(i < 2);");
    folder.write("wrong.c", &wrong);
    let ran = folder.run(&["verify", "wrong.c", "--model", "tso"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
}
