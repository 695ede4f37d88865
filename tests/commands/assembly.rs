//! Litmus tests as other tools and compilers write them.

use crate::binary::{file, run};

/// What `litmus` says of a test under a model: the verdict and the number of final states.
fn verdict(text: &str, model: &str) -> (String, String) {
    let (_folder, path) = file("test.litmus", text);
    let ran = run(&["litmus", &path.display().to_string(), "--model", model]);
    assert!(ran.code < 2, "{ran:?}\n{text}");
    let mut words = ran.stdout.split_whitespace().skip(2).map(str::to_string);
    (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    )
}

#[test]
fn semicolons_of_other_tools() {
    let text = |after: &str, question: &str| {
        format!(
            "X86 SB\n{{ x=0; y=0; }}{after}\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n{question}"
        )
    };
    for after in ["", ";", " ;"] {
        for question in [
            "exists (0:EAX=0 /\\ 1:EAX=0)",
            "exists (0:EAX=0 /\\ 1:EAX=0);",
            "final (0:EAX=0 /\\ 1:EAX=0);",
            "final (0:EAX=0 /\\ 1:EAX=0) ;",
        ] {
            let text = text(after, question);
            assert_eq!(verdict(&text, "sc"), ("Forbidden".into(), "3".into()));
            assert_eq!(verdict(&text, "tso"), ("Allowed".into(), "4".into()));
        }
    }
}

/// Every jump against what it says, for all pairs of small numbers.
#[test]
fn conditional_jumps() {
    type Jump = (&'static str, fn(i32, i32) -> bool);
    let jumps: [Jump; 8] = [
        ("JE", |a, b| a == b),
        ("JNE", |a, b| a != b),
        ("JL", |a, b| a < b),
        ("JGE", |a, b| a >= b),
        ("JLE", |a, b| a <= b),
        ("JG", |a, b| a > b),
        ("JS", |a, b| a < b),
        ("JNS", |a, b| a >= b),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let mut expected = Vec::new();
    let code = |name: &str, before: &str, jump: &str| {
        format!(
            "X86 {name}\n{{ }}\n P0 ;\n {before} {jump} L ;\n MOV EBX,$1 ;\n L: ;\nexists (0:EBX=0)\n"
        )
    };
    for (jump, holds) in jumps {
        for (a, b) in (-1..=1).flat_map(|a| (-1..=1).map(move |b| (a, b))) {
            let compared = format!("MOV EAX,${a} ;\n MOV ECX,${b} ;\n CMP EAX,ECX ;\n");
            let mut tests = vec![(
                format!("CMP{jump}{}{}", a + 1, b + 1),
                compared,
                holds(a, b),
            )];
            if b == 0 {
                let tested = format!("MOV EAX,${a} ;\n TEST EAX,EAX ;\n");
                tests.push((format!("TEST{jump}{}", a + 1), tested, holds(a, 0)));
                let subtracted = format!("MOV EAX,${} ;\n SUB EAX,$1 ;\n", a + 1);
                tests.push((format!("SUB{jump}{}", a + 1), subtracted, holds(a, 0)));
            }
            for (name, before, holds) in tests {
                let path = folder.path().join(format!("{name}.litmus"));
                std::fs::write(path, code(&name, &before, jump)).expect("a file");
                let verdict = if holds { "Allowed" } else { "Forbidden" };
                expected.push(format!("{name} sc {verdict} 1"));
            }
        }
    }
    let all = folder.path().display().to_string();
    let ran = run(&["litmus", &all, "--model", "sc"]);
    let mut found: Vec<&str> = ran.stdout.lines().collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{ran:?}");
}

/// A function as a compiler prints it: dotted labels, addresses by %rip, `ret`.
#[test]
fn what_compilers_print() {
    let text = "X86_64 pasted
{ x=0; y=0; }
 P0              | P1                 ;
 movl $1, x(%rip) | movl y(%rip), %eax ;
 movl $1, y(%rip) | testl %eax, %eax   ;
 ret              | je .L2             ;
                  | movl x(%rip), %ebx ;
                  | ret                ;
                  | .L2: movl $7, %ebx ;
                  | ret                ;
exists (1:rax=1 /\\ 1:rbx=0)
";
    assert_eq!(verdict(text, "tso").0, "Forbidden");
    assert_eq!(verdict(text, "pso").0, "Allowed");
}

/// A fence as gcc prints it, `xor` for 0, and what does nothing.
#[test]
fn what_compilers_print_for_fences_and_zero() {
    let text = |fence: &str| {
        format!(
            "X86_64 fences
{{ x=0; y=0; }}
 P0                 | P1                 ;
 endbr64            | endbr64            ;
 xorl %eax, %eax    | xorl %ecx, %ecx    ;
 je .L1             | pause              ;
 movl $5, %eax      |                    ;
 .L1:               |                    ;
 movl $1, x(%rip)   | movl $1, y(%rip)   ;
 {fence} | {fence} ;
 movl y(%rip), %ebx | movl x(%rip), %ebx ;
 ret                | ret                ;
exists (0:rax=0 /\\ 0:rbx=0 /\\ 1:rbx=0)
"
        )
    };
    for fence in [
        "lock orq $0, (%rsp)",
        "lock orl $0, (%rsp)",
        "lock addl $0, -4(%rsp)",
    ] {
        assert_eq!(verdict(&text(fence), "tso").0, "Forbidden", "{fence}");
    }
    for nothing in ["nop", "andl %eax, %eax"] {
        assert_eq!(verdict(&text(nothing), "tso").0, "Allowed", "{nothing}");
    }
    let (_folder, path) = file("test.litmus", text("lock orq $1, (%rsp)"));
    let ran = run(&["litmus", &path.display().to_string()]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn models_in_any_case() {
    let sb = "algorithms/litmus/sb.fen";
    for model in ["tso", "TSO", "Tso", "x86", "X86"] {
        let ran = run(&["verify", sb, "--model", model, "--no-trace"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stdout.contains("sb.fen under TSO: violated"), "{ran:?}");
        let ran = run(&["infer", sb, "--model", model]);
        assert!(ran.stdout.contains("sb.fen under TSO: 2 fences"), "{ran:?}");
    }
    assert_eq!(run(&["verify", sb, "--model", "arm"]).code, 2);
}

/// Where a format guesses, nobody asks who stands still.
#[test]
fn guesses_stand_still() {
    for option in ["--stuck", "--deadlock"] {
        let ran = run(&["verify", "tests/data/litmus/SB.litmus", option]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(
            ran.stderr.contains("does not go with this format"),
            "{ran:?}"
        );
    }
}
