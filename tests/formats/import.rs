//! Programs in other formats: the same answers as in the native language, positions in
//! messages, and no panic whatever the text is.

use fencesmith::diagnostic::{Diagnostic, render};
use fencesmith::export;
use fencesmith::import::{self, Format, trencher::Together};
use fencesmith::lang::parser::parse;
use fencesmith::lang::resolve::resolve;
use fencesmith::lang::unparse;
use fencesmith::lower::{compile, lower};
use fencesmith::memory::Model;
use fencesmith::program::Program;
use fencesmith::source::Source;
use fencesmith::verify::Verdict;
use fencesmith_testing::programs::{MODELS, answer, capped, exact};
use fencesmith_testing::random::Random;
use fencesmith_testing::{cases, foreign, programs};
use proptest::prelude::*;

/// Verdict and number of states on the exact model.
fn judged(program: &Program, model: Model, bound: usize) -> (Verdict, u64) {
    let options = capped(exact(model, bound), 50_000);
    let answer = answer(program, &options);
    (answer.verdict, answer.statistics.states)
}

/// Prints a tree in the native language, reads it again and compares everything that can
/// be seen: outcomes and numbers of states, with and without fusing.
fn same_when_printed(ast: &fencesmith::lang::ast::Ast) {
    let text = unparse(ast, &[]);
    let again = parse(&Source::new("printed.fen", text.clone())).expect(&text);
    assert_eq!(unparse(&again, &[]), text, "printing is stable");
    let (first, second) = (foreign::program(ast), foreign::program(&again));
    for model in MODELS {
        assert_eq!(
            judged(&first, model, 2),
            judged(&second, model, 2),
            "{model}\n{text}"
        );
    }
}

#[test]
fn printed_programs_are_the_same() {
    for (format, source) in foreign::all() {
        same_when_printed(&foreign::ast(format, &source, &[]));
    }
    for name in programs::names(&["lock", "mutex", "paper", "protocol", "queue"]) {
        let ast = parse(&programs::source(&name)).expect("the suite parses");
        same_when_printed(&ast);
    }
    for seed in 0..60 {
        for options in cases::families() {
            same_when_printed(&cases::case(seed, &options).ast);
        }
    }
}

/// Machines that come from programs give the same verdicts as the programs.
#[test]
fn machines_of_programs() {
    let mut converted = 0;
    for name in programs::names(&["lock", "mutex", "barrier"]) {
        let source = programs::source(&name);
        let program = programs::program(&source);
        let Ok(text) = export::rmm::print(&program, &source) else {
            continue;
        };
        converted += 1;
        let machine = Source::new("converted.rmm", text.clone());
        let machine = foreign::program(&foreign::ast(Format::Rmm, &machine, &[]));
        let program = program.fenced(&Default::default());
        for model in MODELS {
            let (ours, theirs) = (judged(&program, model, 2), judged(&machine, model, 2));
            let limit = |outcome| matches!(outcome, Verdict::Inconclusive(_));
            if !limit(ours.0) || !limit(theirs.0) {
                assert_eq!(ours.0, theirs.0, "{name} under {model}\n{text}");
            }
        }
    }
    assert!(converted >= 10, "{converted}");
}

/// Everything that is wrong with a text, as `line:column message`.
fn complaints(format: Format, text: &str) -> Vec<String> {
    let source = Source::new("t", text);
    let forbid = ["a:q9".parse::<Together>().expect("a list of states")];
    let forbid = if format == Format::Trencher && text.contains("q9") {
        &forbid[..]
    } else {
        &[]
    };
    let result = import::read(format, &source, forbid);
    let result = result.and_then(|ast| resolve(&ast).map(|_| ()));
    let say = |error: Diagnostic| {
        let at = error
            .span
            .map(|span| source.position(span.start).to_string());
        format!("{} {}", at.unwrap_or_default(), error.message)
    };
    result
        .err()
        .unwrap_or_default()
        .into_iter()
        .map(say)
        .collect()
}

#[track_caller]
fn refused(format: Format, text: &str, expected: &[&str]) {
    assert_eq!(complaints(format, text), expected, "{text}");
}

#[test]
fn wrong_litmus_tests() {
    let check = |text: &str, expected: &[&str]| refused(Format::Litmus, text, expected);
    check(
        "",
        &["1:1 a litmus test begins with its architecture and its name"],
    );
    check(
        "AArch64 MP\n{}\n",
        &["1:1 a test for AArch64 cannot be read"],
    );
    check("X86\n{}\n", &["1:1 the test has no name"]);
    check(
        "X86 t\nodd\n{}\n",
        &["2:1 expected `Key=value` or the initial state `{ … }`"],
    );
    check(
        "X86 t\n{ x=0;\n P0 ;\n",
        &["2:1 the initial state is never closed"],
    );
    let code = |code: &str| format!("X86 t\n{{ x=0; }}\n P0 | P1 ;\n{code}exists (0:EAX=1)\n");
    check(
        &code(" FROB [x] | MOV [x],$1 ;\n MOV AL,$1 | MOV [x],[y] ;\n JMP L | XADD [x],EAX ;\n"),
        &[
            "4:2 unknown instruction 'FROB'",
            "5:6 unknown register 'AL'",
            "5:14 MOV cannot be read with these operands",
            "6:6 unknown label 'L'",
            "6:10 XADD cannot be read with these operands",
        ],
    );
    check(
        &code(" MFENCE ;\n"),
        &["4:2 this row has 1 cell, and there are 2 processes"],
    );
    check(
        &code(" MOV [EAX],$1 | ;\n"),
        &["4:7 an address in a register or a number cannot be read"],
    );
    check(
        &code(" MOV EAX,[x] | MOV EAX,[x]\n"),
        &["4:2 this row of code does not end"],
    );
    check(
        &code(" mov [x],%eax | ;\n"),
        &["4:6 it is not clear which operand is the target"],
    );
    check(
        &code(" MOV [x],$99999999999 | ;\n"),
        &["4:11 integer literal does not fit 32 bits"],
    );
    check(
        &code(" L: MFENCE | ;\n L: MFENCE | ;\n"),
        &["5:2 duplicate label 'L'"],
    );
    check(
        "X86 t\n{ 0:EAX=x; x=1; x=2 }\n P0 ;\n MFENCE ;\nexists (0:EAX=1)\n",
        &[
            "2:9 0:EAX starts with an address",
            "2:17 [x] has two initial values",
        ],
    );
    let ask = |question: &str| format!("X86 t\n{{ }}\n P0 ;\n MOV [x],$1 ;\n{question}\n");
    check(
        &ask(""),
        &["6:1 expected `exists`, `~exists` or `forall`, found the end"],
    );
    check(
        &ask("exists (x=1 /\\)"),
        &["5:15 expected a register such as `0:EAX` or a location such as `x`, found `)`"],
    );
    check(&ask("exists (3:EAX=1)"), &["5:9 there is no process 3"]);
    check(&ask("exists (EAX=1)"), &["5:9 whose register is 'EAX'?"]);
    check(
        &ask("exists (x=1) junk"),
        &["5:14 expected the end, found `junk`"],
    );
    check(
        &ask("exists (x=1 => x=2)"),
        &["5:13 expected `)`, found `=`"],
    );
    check("X86 t (* open\n{ }", &["1:7 this comment is never closed"]);
}

#[test]
fn wrong_machines() {
    let check = |text: &str, expected: &[&str]| refused(Format::Rmm, text, expected);
    let body = |code: &str| {
        format!(
            "forbidden\n  CS\ndata\n  x = 0 : [0:1]\nprocess\nregisters\n  $r = 0\ntext\n  {code};\n  CS: nop\n"
        )
    };
    check("", &["1:1 expected `forbidden`, found the end"]);
    check(&body("sffence"), &["9:3 `sffence` is not supported"]);
    check(
        &body("write: y := $s; goto L; read: $q := x[my]"),
        &[
            "9:10 unknown variable 'y'",
            "9:15 unknown register '$s'",
            "9:24 unknown label 'L'",
            "9:33 unknown register '$q'",
        ],
    );
    check(
        &body("write: [7] := 1"),
        &["9:10 the pointer [7] points to none of the 1 variables"],
    );
    check(
        &body("read: $r := x[my]"),
        &["9:15 no process has a variable 'x'"],
    );
    check(
        &body("locked{ read: x = 1 }"),
        &["9:3 a locked block that writes nothing is not supported"],
    );
    check(
        &body("locked{ write: x := 1; goto CS }"),
        &["9:26 this statement cannot stand in a locked block"],
    );
    check(&body("write x := 1"), &["9:9 expected `:`, found `x`"]);
    check(
        &body("write: x := x"),
        &["9:15 'x' cannot stand in an expression"],
    );
    check(&body("/* open"), &["9:3 this comment is never closed"]);
    check(
        &body("assume: $r"),
        &["9:13 expected a comparison such as `=`, found `;`"],
    );
    check(
        "forbidden\n  A B\nprocess\ntext\n  A: nop\n",
        &["2:3 this names 2 labels, and there are 1 processes"],
    );
    check(
        "forbidden\n  B\nprocess\ntext\n  A: nop; A: nop\n",
        &["2:3 process 0 has no label 'B'", "5:11 duplicate label 'A'"],
    );
    check(
        "forbidden\n  A\ndata\n  x = *\nprocess\ntext\n  A: nop\n",
        &["4:3 `*` needs a range, and 'x' has none"],
    );
    check(
        "forbidden\n  A\ndata\n  x = 3 : [0:1]\nprocess\ntext\n  A: nop\n",
        &["4:3 'x' starts outside its domain 0..=1"],
    );
    check(
        "macro m(a) nop endmacro\nforbidden\n  A\nprocess\ntext\n  A: m(1, 2)\n",
        &["6:6 the macro 'm' takes 1 arguments, not 2"],
    );
    check(
        "macro m() m() endmacro\nforbidden\n  A\nprocess\ntext\n  A: m()\n",
        &["6:6 macros call each other too deeply"],
    );
    check(
        "forbidden A B\nprocess\ndata x = 0 : [0:1]\ntext A: nop\nprocess\ndata x = 0 : [0:2]\ntext B: nop\n",
        &["6:6 'x' has the domain 0..=2 here and 0..=1 in another process"],
    );
}

#[test]
fn wrong_automata() {
    let check = |text: &str, expected: &[&str]| refused(Format::Trencher, text, expected);
    let thread = |lines: &str| format!("thread a\ninitial q0\n{lines}end\n");
    check("", &["1:1 there is no thread"]);
    check("thread a\ninitial q0\n", &["1:8 the thread 'a' never ends"]);
    check("thread a\nend\n", &["1:8 'a' has no initial state"]);
    check(
        &thread("transition q0 q1 jump\ntransition q0 q1 write 1\nfrob\n"),
        &[
            "3:18 unknown instruction 'jump'",
            "4:18 an operand is missing behind this",
            "5:1 unknown word 'frob'",
        ],
    );
    check(
        &thread("transition q0 q1 check % a b\n"),
        &["3:24 the operator `%` is not supported"],
    );
    check(
        &thread("transition q0 q1 write 1 10\n"),
        &["3:26 the address 10 lies outside memory"],
    );
    check(
        &thread("transition q0 q1 noop 1\n"),
        &["3:23 '1' is one word too many"],
    );
    check(
        &thread("transition q0 q1 unlock\n"),
        &["3:18 `unlock` without `lock`"],
    );
    check(
        &thread(
            "transition q0 q1 lock\ntransition q1 q2 noop\ntransition q1 q3 noop\ntransition q3 q0 unlock\n",
        ),
        &["4:15 this cannot be an atomic block: the locked part does not end with `unlock`"],
    );
    check(
        &thread("transition q0 q1 lock\ntransition q1 q2 noop\ntransition q2 q1 noop\n"),
        &["5:15 this cannot be an atomic block: the locked part has a loop"],
    );
    check(
        &thread(
            "transition q0 q1 lock\ntransition q1 q2 noop\ntransition q2 q0 unlock\ntransition q0 q2 noop\n",
        ),
        &["4:15 this cannot be an atomic block: the locked part can be entered in the middle"],
    );
    check(
        "# q9\nthread a\ninitial q0\nend\n",
        &["2:8 'a' has no state 'q9'"],
    );
    assert!("t0".parse::<Together>().is_err() && "".parse::<Together>().is_err());
}

/// Programs that other languages cannot say.
#[test]
fn refused_exports() {
    let promela = |text: &str| {
        let source = Source::new("t.fen", text);
        let options = export::promela::PromelaOptions {
            model: Model::Pso,
            atomics: fencesmith::memory::Atomics::DrainPlace,
            bound: 2,
        };
        let program = compile(&source).expect("a program");
        export::promela::print(&program, &source, &options)
    };
    let errors = promela("process p { int r; r = r + 1; }").expect_err("may overflow");
    assert_eq!(errors[0].span.map(|span| span.start), Some(19));
    assert!(errors[0].message.contains("32 bits"), "{errors:?}");
    assert!(promela("process p { int[0..=9] r; r = r % 3; assert(r < 3); }").is_ok());
    // The multiple of 100 below the least value of r does not fit.
    let low = "process p { int[-2147483646..=0] r; r = r / 100; }";
    let errors = promela(low).expect_err("a multiple of the divisor may overflow");
    assert!(errors[0].message.contains("leave 32 bits"));
    assert!(promela("process p { int[-99..=99] r; r = r / 100; }").is_ok());
    let rmm = |text: &str| {
        let source = Source::new("t.fen", text);
        export::rmm::print(&compile(&source).expect("a program"), &source)
    };
    let reason = |text: &str| rmm(text).expect_err(text)[0].message.clone();
    assert!(reason("shared bool x; process p { store x = true; } final x;").contains("final"));
    assert!(
        reason("shared bool x; process p { L: store x = 2; } forbid p at L;").contains("range")
    );
    assert!(
        reason("shared bool x; process p { bool r; L: swap r = x, 1; } forbid p at L;")
            .contains("swap")
    );
    assert!(reason("process p { skip; }").contains("nothing to forbid"));
}

/// Words and signs, spaces kept.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for c in text.chars() {
        match words.last_mut() {
            Some(word) if is_word(c) && word.chars().all(is_word) => word.push(c),
            _ => words.push(c.to_string()),
        }
    }
    words
}

/// Places where fences can be typed are told apart by the statement and the side.
fn points_are_apart(program: &Program, text: &str) {
    let mut seen = std::collections::HashMap::new();
    for (index, point) in program.points.iter().enumerate() {
        for site in &point.sites {
            let key = (site.side, site.statement.start);
            let other = *seen.entry(key).or_insert(index);
            assert_eq!(other, index, "{key:?} is two places\n{text}");
        }
    }
}

/// Whatever the text is: messages whose spans lie in it, or a program that prints and
/// parses.
fn harmless(format: Format, text: &str) -> bool {
    let source = Source::new("t", text);
    let read = import::read(format, &source, &[]);
    let read = read.and_then(|ast| resolve(&ast).map(|symbols| (lower(&ast, &symbols), ast)));
    match read {
        Ok((program, ast)) => {
            points_are_apart(&program, text);
            let printed = unparse(&ast, &[]);
            let again = parse(&Source::new("printed.fen", printed.clone()));
            let again = again.and_then(|ast| resolve(&ast).map(|_| ()));
            if let Err(errors) = again {
                panic!("{text}\n{printed}\n{errors:?}");
            }
            true
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                let end = error.span.map_or(0, |span| span.end as usize);
                assert!(end <= text.len(), "{error:?}\n{text}");
            }
            assert!(!render(&source, &errors, false).is_empty());
            false
        }
    }
}

#[test]
fn macro_calls_are_one_place() {
    let machine = |definition: &str, code: &str| {
        let text = format!(
            "macro m() {definition} endmacro\nforbidden\n  CS\ndata x = 0 : [0:1]\nprocess\nregisters $r = 0 : [0:1]\ntext\n  {code};\n  CS: nop\n"
        );
        assert!(harmless(Format::Rmm, &text), "{text}");
    };
    machine("write: x := 1; read: $r := x", "L: m(); m()");
    machine("if $r = 0 then write: x := 1", "m(); while $r = 1 do m()");
    machine("nop else nop", "if $r = 0 then m()");
    machine("nop or fence", "either{ m() }");
    machine("A: nop; { read: $r := x; fence }", "m()");
    machine("read: $r :=", "m() x; m() x");
}

#[test]
fn mutated_files() {
    let files = foreign::all();
    let mut random = Random(7);
    let (mut fine, mut wrong) = (0, 0);
    for _ in 0..6000 {
        let (format, source) = &files[random.below(files.len())];
        let mut words = words(source.text());
        for _ in 0..1 + random.below(3) {
            if words.is_empty() {
                break;
            }
            let (at, other) = (random.below(words.len()), random.below(words.len()));
            match random.below(5) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[other].clone()),
                2 => words.swap(at, other),
                3 => words.truncate(at.max(1)),
                _ => words[at] = words[other].clone(),
            }
        }
        match harmless(*format, &words.concat()) {
            true => fine += 1,
            false => wrong += 1,
        }
    }
    assert!(fine > 300 && wrong > 1000, "{fine} fine, {wrong} wrong");
}

#[test]
fn deep_and_long_texts() {
    let many = |part: &str| part.repeat(50_000);
    let litmus = |condition: &str| format!("X86 t\n{{ }}\n P0 ;\n MFENCE ;\nexists {condition}\n");
    harmless(Format::Litmus, &litmus(&many("(")));
    harmless(Format::Litmus, &litmus(&many("~")));
    assert!(harmless(
        Format::Litmus,
        &litmus(&format!("{} x=1", many("x=1 \\/ ")))
    ));
    let rmm = |code: &str| format!("forbidden A\nprocess\nregisters $r = 0\ntext\n A: {code}\n");
    for part in [
        "{",
        "(",
        "if $r = 0 then ",
        "either{ ",
        "[",
        "assume: not ",
        "$r := -",
    ] {
        harmless(Format::Rmm, &rmm(&many(part)));
    }
    harmless(Format::Rmm, &rmm(&format!("$r := 1{}", many(" + 1"))));
    assert!(harmless(
        Format::Rmm,
        &rmm(&format!("nop{}", many("; nop")))
    ));
    let trencher = |code: &str| format!("thread a\ninitial q\ntransition q q {code}\nend\n");
    harmless(
        Format::Trencher,
        &trencher(&format!("check {}", many("! "))),
    );
    harmless(
        Format::Trencher,
        &trencher(&format!("check {}", many("+ "))),
    );
}

proptest! {
    #[test]
    fn any_text(text in "(X86 t\n)?(\\PC|\n){0,200}") {
        for format in [Format::Litmus, Format::Rmm, Format::Trencher] {
            harmless(format, &text);
        }
    }

    #[test]
    fn any_condition(text in "[x01:=/\\\\~()not EAX\\[\\]]{0,60}") {
        harmless(Format::Litmus, &format!("X86 t\n{{ }}\n P0 ;\n MFENCE ;\nexists {text}\n"));
    }

    #[test]
    fn any_cell(text in "(LOCK |MOV|ADD|CMP|XCHG|CMPXCHG|JE|L:|INC|movl)?[ A-Dxy$%,()\\[\\]01L:-]{0,30}") {
        harmless(Format::Litmus, &format!("X86 t\n{{ }}\n P0 ;\n {text} ;\nexists (true)\n"));
    }

    #[test]
    fn any_statement(text in "(write|read|cas|locked|either|if|while|assume|goto|\\$r|L|x|y|:=|:|=|\\(|\\)|\\[|\\]|\\{|\\}|or|then|do|;|1| ){0,30}") {
        harmless(Format::Rmm, &format!("forbidden *\ndata x = 0 : [0:1]\nprocess\nregisters $r = 0 : [0:2]\ntext\n {text}\n"));
    }

    #[test]
    fn any_transition(text in "(write|read|check|local|lock|unlock|mfence|noop|\\+|==|!|r|1|q0|q1| ){0,12}") {
        harmless(Format::Trencher, &format!("thread a\ninitial q0\ntransition q0 q1 {text}\ntransition q1 q0 {text}\nend\n"));
    }
}
