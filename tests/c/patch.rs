//! Fences written back into C files: what is written compiles, and is correct.

use crate::run::{Folder, gcc_accepts};
use rayon::prelude::*;
use std::path::Path;

const SB: &str = "/* Store buffering. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int r1, r2;

void *a(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    r1 = atomic_load_explicit(&y, memory_order_relaxed);
    return NULL;
}

void *b(void *arg)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed); // b
    r2 = atomic_load_explicit(&x, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t1, t2;
    pthread_create(&t1, NULL, a, NULL);
    pthread_create(&t2, NULL, b, NULL);
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
    assert(r1 == 1 || r2 == 1);
    return 0;
}
";

/// Two files, a body without braces, macros, and no <stdatomic.h>.
const FLAGS: &str = "// Flags of two threads.
#ifndef FLAGS_H
#define FLAGS_H

#define SET(flag) __atomic_store_n(&(flag), 1, __ATOMIC_RELAXED)

static int x, y;

static inline int set(int *mine, int *other)
{
    SET(*mine);
    return __atomic_load_n(other, __ATOMIC_RELAXED);
}

#endif
";

const MAIN: &str = "#include \"../inc/flags.h\"
#include <assert.h>
#include <pthread.h>

static int r1, r2, go = 1;

static void *a(void *arg)
{
    if (go)
        r1 = set(&x, &y);
    else
        r1 = 1;
    return 0;
}

static void *b(void *arg)
{
    if (go) SET(y);
    r2 = x; /* what is seen
               of the other */
    return 0;
}

int main(void)
{
    pthread_t t1, t2;
    pthread_create(&t1, 0, a, 0);
    pthread_create(&t2, 0, b, 0);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    assert(r1 || r2);
    return 0;
}
";

fn two_files() -> Folder {
    let folder = Folder::new();
    folder.write("src/main.c", MAIN);
    folder.write("inc/flags.h", FLAGS);
    folder
}

#[test]
fn a_file_with_fences() {
    let folder = Folder::new();
    folder.write("sb.c", SB);
    for model in ["tso", "pso"] {
        assert_eq!(folder.run(&["verify", "sb.c", "--model", model]).code, 1);
        let ran = folder.run(&["infer", "sb.c", "--model", model, "--emit", "fixed.c"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let fence = "    atomic_thread_fence(memory_order_seq_cst);\n";
        let first = "(&x, 1, memory_order_relaxed);\n";
        let second = "(&y, 1, memory_order_relaxed); // b\n";
        let expected = SB.replace(first, &format!("{first}{fence}"));
        let expected = expected.replace(second, &format!("{second}{fence}"));
        assert_eq!(folder.read("fixed.c"), expected);
        gcc_accepts(&folder, &["fixed.c"]);
        assert_eq!(folder.run(&["verify", "fixed.c", "--model", model]).code, 0);
    }
    let ran = folder.run(&["infer", "sb.c", "--model", "tso", "--emit", "sb.c"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(folder.read("sb.c"), SB);
}

#[test]
fn a_patch_of_several_files() {
    let folder = two_files();
    for (path, file) in [(".", "src/main.c"), ("src", "main.c")] {
        let ran = folder.run_in(path, &["infer", file, "--patch"], "");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains("under PSO: 2 fences"), "{ran:?}");
        let copy = two_files();
        match path {
            "." => copy.patch(".", &ran.stdout),
            // `patch` takes no name that leads out of its folder.
            _ => copy.patch(
                ".",
                &ran.stdout
                    .replace("main.c", "src/main.c")
                    .replace("../inc", "inc"),
            ),
        }
        gcc_accepts(&copy, &["src/main.c"]);
        assert_eq!(copy.run(&["verify", "src/main.c"]).code, 0);
        for file in ["src/main.c", "inc/flags.h"] {
            assert!(
                copy.read(file).contains("#include <stdatomic.h>"),
                "{}",
                copy.read(file)
            );
        }
        let again = copy.run(&["infer", "src/main.c", "--patch"]);
        assert_eq!((again.code, &*again.stdout), (0, ""));
    }
    // By paths from the root, the files that are verified again are the changed ones, too.
    let main = folder.path("src/main.c");
    let include = format!("-I{}", folder.path("inc").display());
    let ran = folder.run(&[
        "infer",
        &main.display().to_string(),
        &include,
        "--patch",
        "-q",
    ]);
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran:?}");
    assert!(ran.stdout.contains("+++ src/main.c\n"), "{ran:?}");
}

#[test]
fn files_with_fences_go_to_a_folder() {
    let folder = two_files();
    let ran = folder.run(&["infer", "src/main.c", "--model", "tso", "--emit", "fixed.c"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("name a folder"), "{ran:?}");
    let ran = folder.run(&["infer", "src/main.c", "--model", "tso", "--emit", "."]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(folder.read("src/main.c"), MAIN);
    folder.write("out/empty", "");
    let ran = folder.run(&["infer", "src/main.c", "--model", "tso", "--emit", "out"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    gcc_accepts(&folder, &["out/src/main.c"]);
    assert_eq!(
        folder
            .run(&["verify", "out/src/main.c", "--model", "tso"])
            .code,
        0
    );
}

#[test]
fn standard_input_and_macros() {
    let folder = Folder::new();
    folder.write("config.h", "#define ORDER memory_order_relaxed\n");
    let text = SB.replace("memory_order_relaxed)", "ORDER)");
    let options = ["--from", "c", "-", "-include", "config.h", "-DUNUSED=1"];
    let infer = [&["infer", "--patch", "-q"], &options[..]].concat();
    let ran = folder.run_in(".", &infer, &text);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stdout.matches("\n+    atomic_thread_fence").count(),
        2,
        "{ran:?}"
    );
    let verify = [
        &["verify", "-D", "ORDER=memory_order_seq_cst"],
        &options[..3],
    ]
    .concat();
    assert_eq!(folder.run_in(".", &verify, &text).code, 0);
}

#[test]
fn native_programs_are_patched() {
    let folder = Folder::new();
    folder.write(
        "dekker.fen",
        include_str!("../../algorithms/mutex/dekker.fen"),
    );
    assert_eq!(folder.run(&["verify", "dekker.fen"]).code, 1);
    let ran = folder.run(&["infer", "dekker.fen", "--patch"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    folder.patch(".", &ran.stdout);
    assert_eq!(folder.run(&["verify", "dekker.fen"]).code, 0);
}

/// Programs of the suite that need fences, among them one of several files.
const REPAIRED: [&str; 16] = [
    "2+2w",
    "clh",
    "dekker",
    "double-checked",
    "flags-volatile",
    "include-lock",
    "message",
    "mp",
    "peterson",
    "peterson-builtins",
    "r",
    "rcu-publish",
    "s",
    "sb",
    "tas-relaxed",
    "treiber",
];

#[test]
fn repairs_of_the_suite_compile_and_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("algorithms/c");
    REPAIRED.par_iter().for_each(|name| {
        let folder = Folder::new();
        folder.copy(&root);
        let file = format!("{name}.c");
        let ran = folder.run(&["infer", &file, "--patch", "-q", "--kinds", "fine"]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
        assert!(ran.stdout.contains("\n+"), "{name}: {ran:?}");
        folder.patch(".", &ran.stdout);
        gcc_accepts(&folder, &[&file]);
        let ran = folder.run(&["verify", &file]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
    });
}
