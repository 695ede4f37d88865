//! What the tool says about wrong programs: each snapshot shows programs and messages together.

use fencesmith::diagnostic::{Diagnostic, render};
use fencesmith::lang::parser::parse;
use fencesmith::lang::resolve::resolve;
use fencesmith::source::Source;

fn errors(source: &Source) -> Vec<Diagnostic> {
    match parse(source) {
        Ok(ast) => resolve(&ast).err().unwrap_or_default(),
        Err(errors) => errors,
    }
}

/// Programs that must be rejected, each with what is said about it.
fn check(name: &str, programs: &[&str]) {
    let mut shown = String::new();
    for program in programs {
        let source = Source::new("test.fen", *program);
        let errors = errors(&source);
        assert!(!errors.is_empty(), "no error in:\n{program}");
        let messages = render(&source, &errors, false);
        shown += &format!("{}\n{program}\n\n{messages}", "-".repeat(72));
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, shown);
    });
}

#[test]
fn tokens() {
    check(
        "tokens",
        &[
            "const N = 2147483648;\nconst M = 99999999999;\nprocess p { skip; }",
            "process p {\n    skip; # oops §§ here\n    if (a & b) skip;\n}",
            "process p {\n    skip;\n    /* never closed\n}",
            "const 2N = 0x10;\nprocess p { skip; }",
        ],
    );
}

#[test]
fn statements() {
    check(
        "statements",
        &[
            "process p {\n    store x = 1\n    load r = x;\n    skip\n}",
            "process p {\n    sotre x = 1;\n    stor x = 1;\n    x[0] = 1;\n    r + 1;\n}",
            "process p {\n    load 1 = x;\n    cas r = x, 1;\n    store x 1;\n    fence ls;\n}",
            "process p {\n    if (a = b) skip;\n    while a skip;\n    do skip; until (a);\n}",
            "process p {\n    else skip;\n    either { skip; }\n    if (*) int r;\n    L:\n}",
            "process p {\n    r = 1 +;\n    r = (1;\n    r = a ? b;\n    r = {1};\n}",
            "process p {\n    int r\n    bool 1;\n    havoc r in 0..3;\n}",
        ],
    );
}

#[test]
fn loops_and_waits() {
    check(
        "loops_and_waits",
        &[
            "process p {\n    int i;\n    for (;;) skip;\n    for (i = 0; i < 3; i++) skip;\n}",
            "process p {\n    for (i in 0..=3) skip;\n    int r;\n    repeat (r) skip;\n    \
             repeat (-1) skip;\n    continue;\n}",
            "shared bool x, y;\nprocess p {\n    bool r;\n    await (r);\n    await (x && y);\n    \
             await (x == z);\n    atomic { await (x); }\n}",
            "shared bool x;\nprocess p {\n    bool r;\n    cas r, r = x, 0, 1;\n    \
             cas r, x = x, 0, 1;\n}",
            "process p {\n    int r;\n    if (r & 1 == 0) skip;\n    r = r == 1 | r == 2;\n}",
        ],
    );
}

#[test]
fn arrays_of_processes_and_grids() {
    check(
        "arrays_of_processes_and_grids",
        &[
            "shared int g[2][3], x[2];\nprocess p {\n    int r;\n    load r = g[0];\n    \
             load r = x[0][0];\n    load r = g[2][0];\n    load r = g[0][3];\n}\nforbid g[1][4] == 0;",
            "shared int x;\nprocess p {\n    int a[3], r, b[2][2], c[100];\n    r = a;\n    a = 1;\n    \
             a[3] = 1;\n    r = a[-1];\n    r[0] = 1;\n    load a = x;\n    x[0] = 1;\n}\n\
             final p.a == 0;",
        ],
    );
}

#[test]
fn macros() {
    check(
        "macros",
        &[
            "macro m(a) { store a = 1; }\nprocess p {\n    m();\n    n(1);\n    mm(1);\n    m(1);\n}",
            "macro m(a, a) { int r; L: skip; stor x = 1; }\nprocess p { m(1, 2); }",
            "macro m(r) { r = 1; break; }\nprocess p {\n    bool r;\n    m(r + 1);\n    \
             while (true) m(s);\n}",
            "macro a() { b(); }\nmacro b() { a(); }\nprocess p { a(); }",
            "macro m() { skip; }\nmacro m() { skip; }\nprocess p { fetch_add(&x, 1); }",
        ],
    );
}

#[test]
fn quantifiers() {
    check(
        "quantifiers",
        &[
            "shared int x;\nprocess p[i in 0..=1] { L: skip; }\nprocess q { skip; }\n\
             final forall (i in 0..=2) p[i] at L;\nfinal exists (i in q) i == 0;\n\
             final exists (i in x) i == 0;\nfinal forall (i in 1..=0) i == 0;\n\
             final forall (i in 0..=99) i == 0;\nfinal forall (i in 0..=x) i == 0;",
            "process p { int r; r = forall (i in 0..=1) i; }",
        ],
    );
}

#[test]
fn a_macro_that_stands_for_too_much() {
    let mut text = "macro m0() { skip; }\n".to_string();
    for level in 1..30 {
        let below = level - 1;
        text += &format!("macro m{level}() {{ m{below}(); m{below}(); }}\n");
    }
    let source = Source::new("test.fen", text + "process p { m29(); }");
    let messages = render(&source, &errors(&source), false);
    assert!(
        messages.contains("stand for too much text"),
        "{}",
        &messages[..messages.len().min(2000)]
    );
}

#[test]
fn items() {
    check(
        "items",
        &[
            "store x = 1;\nprocess p { skip; }\nshard int x;\nint y;\n}",
            "shared x;\nshared int[0..=] y;\nshared bool z[;\nshared int a = {};\nconst = 1;",
            "process { skip; }\nprocess p[i] { skip }\nprocess q[i in 0..=1 { skip; }",
            "process p {\n    while (*) {\n        skip;\n}\n\nprocess q { skip; }\n",
            "process p {\n    skip;\n",
            "mutex;\nforbid;\ninvariant p at;\nfinal p.;",
        ],
    );
}

#[test]
fn keywords_are_reserved() {
    check(
        "keywords",
        &[
            "const add = 1;\nshared int at;\nprocess or { stop: skip; final = 1; load in = ss; }",
            "process p { r = store + 1; }\nmutex atomic;",
        ],
    );
}

#[test]
fn nesting() {
    let chain = format!(
        "process p {{\n    r = 1\n{};\n}}",
        "      + 1\n".repeat(200)
    );
    let source = Source::new("test.fen", chain);
    let messages = render(&source, &errors(&source), false);
    let expected = ["nested too deeply: more than 200 levels", "test.fen:202:7"];
    for part in expected {
        assert!(messages.contains(part), "{messages}");
    }
}

#[test]
fn unknown_names() {
    check(
        "unknown_names",
        &[
            "const LIMIT = 3;\nshared int flag, turn;\nprocess p[me in 0..=1] {\n    int local;\n    \
             store flg = 1;\n    load lokal = turm;\n    local = LIMT + mee;\n    goto critcal;\n    \
             havoc q in 0..=LIMITT;\n    critical: skip;\n}\n\
             mutex crtical;\nforbid flagg == 1 && q at critical && p at critica && p[0].loca == 0;\n",
            "shared int[0..=N] x[M] = K;\nprocess p[i in A..=B] { bool r = z; }",
            "shared int x;\nprocess p { int r; L: skip; }\nprocess q[i in 1..=2] { int s; }\n\
             forbid r == 1;\nforbid L;\nforbid s == 2;\nforbid zzzz == 2;",
        ],
    );
}

#[test]
fn duplicate_names() {
    check(
        "duplicate_names",
        &[
            "const N = 1;\nshared int N, x, x;\nprocess x { skip; }\nprocess N { skip; }",
            "process p {\n    L: skip;\n    while (*) {\n        L: skip;\n    }\n}",
            "const N = 1;\nshared int x;\nprocess p[i in 0..=1] {\n    int r, x, N, i;\n    \
             { bool r; }\n}\nprocess q[x in 0..=1] { skip; }",
        ],
    );
}

#[test]
fn jumps() {
    check(
        "jumps",
        &[
            "process p {\n    goto nowhere;\n    break;\n    if (*) continue;\n    \
             while (*) either { break; } or { continue; }\n}\nprocess q { nowhere: skip; }",
        ],
    );
}

#[test]
fn mutual_exclusion_of_one() {
    check(
        "mutex",
        &[
            "process p { critical: skip; }\nprocess q { skip; }\nmutex critical;",
            "process p[i in 3..=3] { critical: skip; }\nmutex critical;",
            "process p { critical: skip; }\nmutex critical_section;\nmutex critica;",
        ],
    );
}

#[test]
fn shared_and_local() {
    check(
        "shared_and_local",
        &[
            "const N = 1;\nshared int x, y[2];\nprocess p[i in 0..=1] {\n    int r;\n    load x = x;\n    \
             cas x = x, 0, 1;\n    swap N = x, 1;\n    add i = x, 1;\n    havoc x in 0..=1;\n    x = 1;\n    \
             N = 2;\n    i = 3;\n    p = 4;\n}",
            "const N = 1;\nshared int x;\nprocess p[i in 0..=1] {\n    int r;\n    store r = 1;\n    \
             load r = r;\n    store N = 1;\n    swap r = i, 0;\n    store p = 1;\n}",
            "shared int x, y[2];\nprocess p {\n    int r;\n    r = x + 1;\n    if (y[r] == 0) skip;\n    \
             while (x) skip;\n    assume (x > 0);\n    store y[x] = x;\n    r = r[0] + p;\n    \
             r = q.s + q[0].s;\n    assert (!(q at L));\n}\nprocess q { int s; L: skip; }",
        ],
    );
}

#[test]
fn arrays() {
    check(
        "arrays",
        &[
            "shared int x, y[2];\nprocess p {\n    int r;\n    store y = 1;\n    load r = x[0];\n    \
             cas r = y, 0, 1;\n    store y[2] = 1;\n    store y[-1] = 1;\n    store y[1 / 0] = 1;\n    \
             int z[3];\n}\nforbid y == 1 || x[0] == 1 || y[2] == 0;",
            "const N = 2;\nshared bool flag[N];\nprocess p[i in 0..=N] {\n    bool r;\n    \
             store flag[i] = true;\n    load r = flag[i - 1];\n    if (i < N) store flag[i] = false;\n    \
             if (i > 0) skip; else load r = flag[i - 1];\n}",
            "shared int a[0], b[-1], c[5000], d[3] = {1, 2}, e[1] = {1, 2, 3}, f = {1};\n\
             shared bool g[2] = {1, 2}, h[2] = 2;\nprocess p { int r = {1}; }",
            "shared int a[4096], b[4096], c[4096], d[4096], e[4096], f[4096], g[4096], h[4096];\n\
             shared int i[4096], j[4096], k[4096], l[4096], m[4096], n[4096], o[4096], q[4096];\n\
             shared int one_too_many;\nprocess p { skip; }",
        ],
    );
}

#[test]
fn ranges() {
    check(
        "ranges",
        &[
            "const N = 1;\nshared int[3..=N] x;\nprocess p[i in 2..=1] { skip; }\n\
             process q[i in 0..=2] { int[0..=1 - i] r; havoc r in 1..=0; }",
            "shared int[1..=3] x, y = 4;\nshared bool b = 2;\n\
             process p[i in 0..=2] { int[0..=1] r = i; int[1..=2] s; bool t = -1; }",
            "shared int x = *;\nprocess p {\n    int r = *;\n    int[0..=3] s;\n    havoc r;\n    \
             havoc s in 0..=4;\n    havoc s in -1..=2;\n    havoc s in 2..=1;\n}",
            "process p[i in 0..=64] { skip; }\nprocess q[i in -2147483648..=2147483647] { skip; }",
            "process p[i in 0..=3] { int[0..=9] r; havoc r in i..=i * 4; }",
        ],
    );
}

#[test]
fn constants() {
    check(
        "constants",
        &[
            "const A = B;\nconst B = 1;\nconst C = C + 1;\nconst D = B / (B - 1);\n\
             const E = 2147483647 + B;\nconst F = -(-2147483648);\nconst G = D + 1;\n\
             process p { skip; }",
            "shared int x = 1, y = x, z[x];\nprocess p {\n    int r = 1, s = r;\n    int[0..=r] t = x;\n    \
             bool u = p at L || p.r == 1 || y[0];\n}",
            "process p { skip; }\nforbid 1 / 0 == 1;\nshared int x;\ninvariant x == 2147483647 * 2;",
        ],
    );
}

#[test]
fn atomic_blocks() {
    check(
        "atomic_blocks",
        &[
            "shared int x;\nprocess p {\n    int r;\n    while (*) atomic {\n        int s;\n        \
             load r = x;\n        assume (r == 0);\n        store x = 1;\n        L: skip;\n        \
             fence;\n        if (r) skip;\n        while (r) skip;\n        do skip; while (r);\n        \
             either { skip; } or { skip; }\n        atomic { skip; }\n        nofence { skip; }\n        \
             { unknown = 1; }\n        goto L;\n        break;\n        continue;\n        stop;\n    }\n}",
        ],
    );
}

#[test]
fn properties() {
    check(
        "properties",
        &[
            "shared int x;\nprocess p[i in 1..=2] { int r; L: skip; }\nprocess q { int s; M: skip; }\n\
             forbid p[0] at L;\nforbid p[x] at L;\nforbid q[0] at M;\nforbid x at L;\nforbid p at M;\n\
             forbid p.r == 1;\nforbid p[3].r == 1;\nforbid p[1].s == 1;\nforbid q[1].s == 1;\nforbid p;\n\
             forbid q[0];\nfinal z at L;\n",
        ],
    );
}

#[test]
fn programs_without_processes() {
    check("no_process", &["", "// nothing here\nshared int x;\n"]);
}

#[test]
fn too_many_errors() {
    let program = format!("process p {{\n{}}}\n", "    goto L;\n".repeat(60));
    let source = Source::new("test.fen", program);
    let found = errors(&source);
    assert_eq!(found.len(), 51);
    let messages = render(&source, &found[50..], false);
    assert_eq!(messages, "error: and 10 more errors\n\n");
}
