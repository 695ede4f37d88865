//! Pieces of C with what they mean: each assertion holds when gcc runs it and is proved, and its
//! opposite is a violation.

use crate::run::Folder;
use assert_cmd::Command;
use rayon::prelude::*;

/// Declarations, the code of a thread, and what holds behind it.
const CASES: &[(&str, &str, &str)] = &[
    (
        "struct pair { int a; long b[2]; };\n\
         static struct pair make(int a) { struct pair p = { a, { a + 1, a + 2 } }; return p; }",
        "struct pair p = make(3); struct pair q = p; q.a++; x = p.a * 100 + (int)q.b[1] * 10 + q.a;",
        "x == 354",
    ),
    (
        "struct cell { int v; struct cell *next; }; static struct cell cells[3];",
        "for (int i = 0; i < 3; i++) { cells[i].v = i; cells[i].next = i < 2 ? &cells[i + 1] : NULL; }\n\
         for (struct cell *c = cells; c; c = c->next) x = x * 10 + c->v;",
        "x == 12",
    ),
    (
        "static int from[3] = { 1, 2, 3 }, to[3];",
        "memcpy(to, from, sizeof to); x = to[0] + to[1] * 10 + to[2] * 100; memset(to, 0, sizeof to); x += to[2];",
        "x == 321",
    ),
    (
        "static _Atomic int n = 3;",
        "n *= 5; n <<= 1; n %= 7; x = n++; x = x * 10 + n;",
        "x == 23",
    ),
    (
        "static int twice(int *p) { *p += 1; return *p * 2; }",
        "int a = 1, b[2] = { 5, 6 }; x = twice(&a) + twice(&b[1]) * 10 + a * 100 + b[1] * 1000;",
        "x == 7344",
    ),
    (
        "static int first(void) { static _Thread_local int seen; return !seen++; }",
        "int c = 1; int a = c && first(); int b = c && first(); x = a * 2 + b;",
        "x == 2",
    ),
    (
        "enum color { RED, GREEN = 4, BLUE };",
        "enum color c = BLUE; switch (c) { case RED: x = 1; break; case GREEN: x = 2; case BLUE: x += 3; default: x += 4; }",
        "x == 7",
    ),
    (
        "static const char *name(int v) { return v ? \"yes\" : NULL; }",
        "x = name(1) != NULL && name(0) == NULL && \"always\";",
        "x == 1",
    ),
    (
        "",
        "int i = 0; again: if (i < 3) { i++; goto again; } do { x += i; } while (--i); x = (x, x + 1);",
        "x == 7",
    ),
    (
        "static int grid[2][3];",
        "for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) grid[i][j] = 3 * i + j;\n\
         int (*row)[3] = &grid[1]; x = (*row)[2] + grid[0][1] * 10 + (int)(&grid[1][2] - &grid[1][0]) * 100;",
        "x == 215",
    ),
];

fn program(declarations: &str, code: &str, condition: &str) -> String {
    format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <string.h>\n\
         static int x;\n{declarations}\n\
         static void *run(void *argument)\n{{\n{code}\n    assert({condition});\n    return NULL;\n}}\n\
         int main(void)\n{{\n    pthread_t t;\n    pthread_create(&t, NULL, run, NULL);\n    \
         pthread_join(t, NULL);\n    assert({condition});\n    return 0;\n}}\n"
    )
}

#[test]
fn what_c_means() {
    CASES
        .par_iter()
        .for_each(|(declarations, code, condition)| {
            let folder = Folder::new();
            folder.write("right.c", &program(declarations, code, condition));
            let wrong = format!("!({condition})");
            folder.write("wrong.c", &program(declarations, code, &wrong));
            let mut gcc = Command::new("gcc");
            let gcc = gcc.current_dir(folder.path("."));
            gcc.args(["-w", "-pthread", "right.c", "-o", "right"]);
            gcc.assert().success();
            Command::new(folder.path("right")).assert().success();
            for model in ["sc", "tso", "pso"] {
                let right = folder.run(&["verify", "right.c", "--model", model]);
                assert_eq!(right.code, 0, "{code}\n{}{}", right.stdout, right.stderr);
                let wrong = folder.run(&["verify", "wrong.c", "--model", model]);
                assert_eq!(wrong.code, 1, "{code}\n{}{}", wrong.stdout, wrong.stderr);
            }
        });
}
