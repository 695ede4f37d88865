//! Integer expressions have the values, and the types, that gcc gives them.

use crate::run::{Folder, Ran};
use assert_cmd::Command;
use fencesmith_testing::random::{Random, seeds};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Variables, their types, and values that are worth trying.
const VARIABLES: [(&str, &str, &[&str]); 10] = [
    ("b", "_Bool", &["0", "1"]),
    ("c", "char", &["0", "-1", "127", "(-128)", "100"]),
    ("uc", "unsigned char", &["0", "1", "127", "128", "255"]),
    ("s", "short", &["0", "-1", "32767", "(-32768)", "300"]),
    ("us", "unsigned short", &["0", "1", "32768", "65535", "300"]),
    (
        "i",
        "int",
        &[
            "0",
            "1",
            "-1",
            "7",
            "-13",
            "2147483647",
            "(-2147483647 - 1)",
            "65536",
        ],
    ),
    (
        "u",
        "unsigned",
        &["0u", "1u", "31u", "2147483648u", "4294967295u"],
    ),
    (
        "l",
        "long",
        &[
            "0l",
            "-1l",
            "5l",
            "4294967296l",
            "9223372036854775807l",
            "(-9223372036854775807l - 1)",
        ],
    ),
    (
        "ul",
        "unsigned long",
        &[
            "0ul",
            "1ul",
            "63ul",
            "9223372036854775808ul",
            "18446744073709551615ul",
        ],
    ),
    ("e", "enum e", &["E0", "E1", "E7"]),
];

const CONSTANTS: [&str; 20] = [
    "0",
    "1",
    "2",
    "7",
    "31",
    "255",
    "2147483647",
    "2147483648",
    "0xffffffff",
    "0x7fffffffu",
    "017",
    "'a'",
    "'\\xff'",
    "3u",
    "1l",
    "63ul",
    "E7",
    "4294967295u",
    "0x8000000000000000",
    "-1",
];

/// An expression over variables with certain values.
struct Case {
    values: Vec<(&'static str, &'static str, &'static str)>,
    /// A variable that the expression changes, or whose initial value is the expression.
    changed: Option<(&'static str, String)>,
    text: String,
}

/// What gcc says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// The value as an unsigned long, and the size of the type.
    Value(u64, u64),
    Undefined,
}

fn case(random: &mut Random) -> Case {
    let values = VARIABLES.map(|(name, ty, values)| (name, ty, random.pick(values)));
    let (text, constant) = expression(random, 4);
    let text = if constant { "i".to_string() } else { text };
    let (_, ty, value) = values[random.below(9)];
    let (changed, text) = match random.below(4) {
        0 => {
            let operators = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"];
            let text = match random.below(10) {
                0 => format!("(m = {text})"),
                _ => format!("UPDATE({}, {text})", random.pick(&operators)),
            };
            (Some((ty, value.to_string())), text)
        }
        1 => {
            let step = random.pick(&["m++", "++m", "m--", "--m"]);
            let text = format!("KEEP(KEEP({step}) + {text})");
            (Some((ty, value.to_string())), text)
        }
        2 => (Some((ty, text)), "m".to_string()),
        _ => (None, text),
    };
    Case {
        values: values.to_vec(),
        changed,
        text,
    }
}

/// An expression, and whether it is constant. No operator has constant operands only: gcc
/// evaluates these without a word about overflows. What is calculated is `KEEP(…)`.
fn expression(random: &mut Random, depth: usize) -> (String, bool) {
    let leaf = depth == 0 || random.chance(15);
    if leaf && random.chance(30) {
        return (random.pick(&CONSTANTS).to_string(), true);
    }
    if leaf {
        return (VARIABLES[random.below(10)].0.to_string(), false);
    }
    let (left, constant) = expression(random, depth - 1);
    match random.below(10) {
        0 if constant => (left, true),
        0 => {
            let operator = random.pick(&["-", "~", "!", "+"]);
            (format!("KEEP({operator}{left})"), false)
        }
        1 => {
            let ty = VARIABLES[random.below(9)].1;
            (format!("(({ty}){left})"), constant)
        }
        2 => {
            let (middle, _) = expression(random, depth - 1);
            let (right, _) = expression(random, depth - 1);
            let left = if constant { "i" } else { &left };
            (format!("({left} ? {middle} : {right})"), false)
        }
        3 => {
            let (right, _) = expression(random, depth - 1);
            let operator = random.pick(&["&&", "||", ","]);
            (format!("({left} {operator} {right})"), false)
        }
        _ => {
            let operators = [
                "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==",
                "!=",
            ];
            let operator = random.pick(&operators);
            let (mut right, also_constant) = expression(random, depth - 1);
            if matches!(operator, "<<" | ">>") && random.chance(80) {
                right = format!("({right} & 15)");
            }
            let left = if constant && also_constant {
                "l"
            } else {
                &left
            };
            (format!("KEEP({left} {operator} {right})"), false)
        }
    }
}

impl Case {
    /// Declarations of the variables.
    fn declarations(&self, value: impl Fn(&str, &str) -> String) -> String {
        let mut text = String::new();
        for (name, ty, own) in &self.values {
            let _ = write!(text, "{ty} {name} = {}; ", value(name, own));
        }
        if let Some((ty, value)) = &self.changed {
            let _ = write!(text, "{ty} m = {value};");
        }
        text
    }
}

/// What gcc says about cases, by one run; they are counted from one, like lines.
fn ask_gcc(cases: &[Case]) -> Vec<Known> {
    // What is calculated goes through memory: gcc would simplify it before it is watched.
    let mut text = "#define KEEP(e) ({ volatile __auto_type k = (e); k; })\n\
        #define UPDATE(op, e) (m = KEEP(m op (e)))\n\
        #include <setjmp.h>\n#include <signal.h>\n#include <stdio.h>\n\
        enum e { E0, E1, E7 = 7 };\nstatic sigjmp_buf out;\n\
        static void fault(int s) { siglongjmp(out, s); }\n"
        .to_string();
    for (index, case) in (1..).zip(cases) {
        let declarations = case.declarations(|_, value| value.to_string());
        let _ = write!(
            text,
            "static void f{index}(void) {{\n#line {index} \"case\"\n{declarations} \
             unsigned long v = (unsigned long)({}); \
             printf(\"{index} %lu %lu\\n\", v, (unsigned long)sizeof({})); }}\n",
            case.text, case.text
        );
    }
    text.push_str("int main(void) { signal(SIGFPE, fault);\n");
    for index in 1..=cases.len() {
        let _ = writeln!(text, "if (!sigsetjmp(out, 1)) f{index}();");
    }
    text.push_str("return 0; }\n");
    let folder = Folder::new();
    folder.write("cases.c", &text);
    let options = [
        "-std=gnu11",
        "-w",
        "-O0",
        "-fsanitize=undefined",
        "-fno-sanitize=shift-base",
        "cases.c",
        "-o",
        "cases",
    ];
    let mut gcc = Command::new("gcc");
    gcc.current_dir(folder.path("."))
        .args(options)
        .assert()
        .success();
    let ran = Command::new(folder.path("cases"))
        .output()
        .expect("it runs");
    let complaints = String::from_utf8(ran.stderr).expect("it is text");
    let undefined = complaints.lines().filter_map(|line| {
        let (index, _) = line.strip_prefix("case:")?.split_once(':')?;
        index.parse().ok()
    });
    let undefined: HashSet<usize> = undefined.collect();
    let printed = String::from_utf8(ran.stdout).expect("it is text");
    let numbers = printed.lines().map(|line| {
        let words = line
            .split(' ')
            .map(|word| word.parse().expect("it is a number"));
        let numbers: Vec<u64> = words.collect();
        (numbers[0] as usize, Known::Value(numbers[1], numbers[2]))
    });
    let numbers: HashMap<usize, Known> = numbers.collect();
    let known = |index: usize| match numbers.get(&index) {
        Some(value) if !undefined.contains(&index) => *value,
        _ => Known::Undefined,
    };
    (1..=cases.len()).map(known).collect()
}

fn cases(seed: u64, count: usize) -> Vec<(Case, Known)> {
    let mut random = Random(seed);
    let cases: Vec<Case> = (0..count).map(|_| case(&mut random)).collect();
    let known = ask_gcc(&cases);
    cases.into_iter().zip(known).collect()
}

const HEAD: &str = "#define KEEP(e) (e)\n#define UPDATE(op, e) (m op##= (e))\n#include <assert.h>\n#include <pthread.h>\nenum e { E0, E1, E7 = 7 };\n";

/// A block that asserts what gcc says.
fn block(case: &Case, value: u64, size: u64, initial: impl Fn(&str, &str) -> String) -> String {
    let declarations = case.declarations(initial);
    let text = &case.text;
    format!(
        "{{ {declarations} assert(sizeof({text}) == {size}); \
         assert((unsigned long)({text}) == {value}ul); }}\n"
    )
}

/// What the program says about a text.
fn ask(text: &str) -> Ran {
    let folder = Folder::new();
    folder.write("cases.c", text);
    folder.run(&["verify", "cases.c", "--model", "sc", "--no-trace"])
}

/// All assertions in the lines of a text must hold. A line that does not is left out, so that
/// all of these lines are seen.
fn all_hold(seed: u64, text: &str) {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut wrong = Vec::new();
    loop {
        let ran = ask(&lines.join("\n"));
        let line = ran.stdout.split("(line ").nth(1);
        let line = line.and_then(|rest| rest.split(')').next()?.parse::<usize>().ok());
        match line {
            Some(line) if ran.code == 1 && wrong.len() < 10 => {
                wrong.push(format!("{}\n{}", lines[line - 1], ran.stdout));
                lines[line - 1] = "";
            }
            _ => {
                assert_eq!(ran.code, 0, "seed {seed}: {ran:?}\n{}", wrong.join("\n"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "seed {seed}:\n{}", wrong.join("\n"));
}

#[test]
fn values_where_main_runs_alone() {
    for seed in seeds(0, 2) {
        let mut text = format!("{HEAD}int main(void) {{\n");
        let mut count = 0;
        for (case, known) in cases(seed, 300) {
            if let Known::Value(value, size) = known {
                count += 1;
                text += &block(&case, value, size, |_, value| value.to_string());
            }
        }
        assert!(count > 150, "{count}");
        all_hold(seed, &(text + "return 0; }\n"));
    }
}

#[test]
fn values_in_a_thread() {
    for seed in seeds(100, 2) {
        let (mut globals, mut body) = (String::new(), String::new());
        for (index, (case, known)) in cases(seed, 80).iter().enumerate() {
            let Known::Value(value, size) = *known else {
                continue;
            };
            for (name, ty, value) in &case.values {
                let _ = writeln!(globals, "static {ty} {name}_{index} = {value};");
            }
            body += &block(case, value, size, |name, _| format!("{name}_{index}"));
        }
        let text = format!(
            "{HEAD}{globals}static void *thread(void *arg) {{\n{body}return 0; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, thread, 0); \
             pthread_join(t, 0); return 0; }}\n"
        );
        all_hold(seed, &text);
    }
}

#[test]
fn what_is_undefined_is_a_violation() {
    let undefined = cases(200, 300);
    let undefined = undefined
        .iter()
        .filter(|(_, known)| *known == Known::Undefined);
    let mut wrong = Vec::new();
    for (case, _) in undefined.take(40) {
        let declarations = case.declarations(|_, value| value.to_string());
        let text = format!(
            "{HEAD}int main(void) {{ {declarations} unsigned long v = (unsigned long)({}); return v == 0; }}\n",
            case.text
        );
        let ran = ask(&text);
        if ran.code != 1 || !ran.stdout.contains("runtime error") {
            wrong.push(format!("{text}{}{}", ran.stdout, ran.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
