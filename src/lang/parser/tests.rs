use super::*;
use crate::lang::ast::{Expr, ExprKind, Item, Predicate};
use crate::program::{BinaryOp, UnaryOp};

fn errors(text: &str) -> Vec<String> {
    match parse(&Source::new("t", text)) {
        Ok(_) => Vec::new(),
        Err(diagnostics) => diagnostics.into_iter().map(|d| d.message).collect(),
    }
}

/// The expression with all its parentheses.
fn shape(text: &str) -> String {
    let ast = parse(&Source::new("t", format!("forbid {text};"))).expect("parses");
    match &ast.items[..] {
        [Item::Property(property)] => match &property.predicate {
            Predicate::Expr(expr) => show(expr),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn show(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Unary { op, operand } => match op {
            UnaryOp::Not => format!("!{}", show(operand)),
            UnaryOp::Negate => format!("-{}", show(operand)),
            UnaryOp::Complement => format!("~{}", show(operand)),
            UnaryOp::NegateInteger | UnaryOp::Convert(_) => {
                unreachable!("the language has no such operator")
            }
        },
        ExprKind::Binary { op, left, right } => {
            let sign = match op {
                BinaryOp::Mul => "*",
                BinaryOp::Div => "/",
                BinaryOp::Rem => "%",
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                BinaryOp::Less => "<",
                BinaryOp::LessEqual => "<=",
                BinaryOp::Greater => ">",
                BinaryOp::GreaterEqual => ">=",
                BinaryOp::Equal => "==",
                BinaryOp::NotEqual => "!=",
                BinaryOp::And => "&&",
                BinaryOp::Or => "||",
                BinaryOp::BitAnd => "&",
                BinaryOp::BitOr => "|",
                BinaryOp::BitXor => "^",
                BinaryOp::Shl => "<<",
                BinaryOp::Shr => ">>",
                BinaryOp::AddIntegers | BinaryOp::SubIntegers | BinaryOp::Machine(..) => {
                    unreachable!("the language has no such operator")
                }
            };
            format!("({}{sign}{})", show(left), show(right))
        }
        ExprKind::Conditional {
            condition,
            then,
            otherwise,
        } => format!("({}?{}:{})", show(condition), show(then), show(otherwise)),
        ExprKind::Cell { name, index } => format!("{}[{}]", name.text, show(index)),
        ExprKind::Pair { row, column } => format!("{}][{}", show(row), show(column)),
        ExprKind::Quantified { variable, body, .. } => {
            format!("<{}: {}>", variable.text, show(body))
        }
        ExprKind::At { process, label } => format!("<{} at {}>", show_process(process), label.text),
        ExprKind::Local { process, local } => {
            format!("<{}.{}>", show_process(process), local.text)
        }
    }
}

fn show_process(process: &crate::lang::ast::ProcessRef) -> String {
    match &process.index {
        Some(index) => format!("{}[{}]", process.name.text, show(index)),
        None => process.name.text.clone(),
    }
}

#[test]
fn precedence() {
    let check = |text, expected: &str| assert_eq!(shape(text), expected, "{text}");
    check("a + b * c - d", "((a+(b*c))-d)");
    check("a || b && c == d < e + 1", "(a||(b&&(c==(d<(e+1)))))");
    check("a ? b : c ? d : e", "(a?b:(c?d:e))");
    check("a || b ? c && d : e", "((a||b)?(c&&d):e)");
    check("a / b % c * d", "(((a/b)%c)*d)");
    check("a == b != c", "((a==b)!=c)");
    check("!a && -b < -3", "(!a&&(-b<-3))");
    check("-(1) - -1", "(-1--1)");
    check("!-!x", "!-!x");
    check("(a + b) * c", "((a+b)*c)");
    check("p at L && p[1 - 1] at M", "(<p at L>&&<p[(1-1)] at M>)");
    check("p.r == p[i].r + x[p.r]", "(<p.r>==(<p[i].r>+x[<p.r>]))");
    check("-2147483648 < 2147483647", "(-2147483648<2147483647)");
    check("true != false", "(true!=false)");
    check("a | b ^ c & d << 1 + 2", "(a|(b^(c&(d<<(1+2)))))");
    check("(a & b) == c && ~a >> 1 < b", "(((a&b)==c)&&((~a>>1)<b))");
    check("a & (b == c) | d", "((a&(b==c))|d)");
    check("x[1][2 + 3] == 0", "(x[1][(2+3)]==0)");
    check("a && forall (i in p) b || c", "(a&&<i: (b||c)>)");
    check("(exists (i in 0..=1) b) || c", "(<i: b>||c)");
}

/// What is printed is parsed as what it was.
#[test]
fn printed_expressions_are_the_same() {
    let texts = [
        "(a == b) & c | (d < e)",
        "(a | b) & c ^ ~(a + 1)",
        "a << (b << 1) >> 2",
        "(forall (i in p) a) && (exists (j in 0..=1) x[i][j] == 0)",
        "a ? forall (i in p) b : c",
    ];
    for text in texts {
        let expected = shape(text);
        let ast = parse(&Source::new("t", format!("forbid {text};"))).expect("parses");
        let printed = crate::lang::unparse(&ast, &[]);
        let again = printed.trim().trim_start_matches("forbid ");
        assert_eq!(shape(again.trim_end_matches(';')), expected, "{printed}");
    }
}

/// What is printed of a program is the same program.
#[test]
fn printed_statements_are_the_same() {
    let text = "shared int g[2][3], x;
        macro m(a, r) { load r = a; r = r + 1; }
        process p {
            int r, ok, a[2];
            for (r in 0..=2) { m(g[0][r], ok); }
            repeat (3) a[1] = a[0];
            await (x == r);
            cas ok, r = x, r, 1;
            L: for (r in 0..=1) skip;
        }";
    let ast = parse(&Source::new("t", text)).expect("parses");
    let printed = crate::lang::unparse(&ast, &[]);
    let again = parse(&Source::new("t", printed.clone())).expect("parses");
    assert_eq!(crate::lang::unparse(&again, &[]), printed);
    for part in [
        "for (r in 0..=2)",
        "load ok = g[0][r];",
        "ok = ok + 1;",
        "repeat (3) a[1] = a[0];",
        "await (x == r);",
        "cas ok, r = x, r, 1;",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
}

#[test]
fn spans_cover_exactly_the_text() {
    let text = "forbid (a + b) * x[1] ;";
    let ast = parse(&Source::new("t", text)).expect("parses");
    let Item::Property(property) = &ast.items[0] else {
        panic!("{ast:?}");
    };
    let Predicate::Expr(expr) = &property.predicate else {
        panic!("{ast:?}");
    };
    assert_eq!(property.span, Span::new(0, 23));
    assert_eq!(expr.span, Span::new(7, 21));
}

#[test]
fn one_mistake_one_message() {
    let check = |text: &str, expected: &[&str]| assert_eq!(errors(text), expected, "{text}");
    check(
        "process p { store x = 1 load r = x; }",
        &["expected `;`, found `load`"],
    );
    check("process p { skip }", &["expected `;`, found `}`"]);
    check(
        "process p { skip;",
        &["expected `}`, found the end of the file"],
    );
    check(
        "process p { { { skip; ",
        &["expected `}`, found the end of the file"],
    );
    check(
        "process p { if (a { skip; } else skip; }",
        &["expected `)`, found `{`"],
    );
    check(
        "process p { r = {1, 2}; }",
        &["expected an expression, found `{`"],
    );
    check(
        "process p { sotre x = 1; } process q { skip } shared in x;",
        &[
            "unknown statement 'sotre'",
            "expected `;`, found `}`",
            "expected `bool`, `int` or `integer`, found `in`",
        ],
    );
    check(
        "process p { store final = 1; load = x; } mutex process;",
        &[
            "`final` is a keyword and cannot be the name of a shared variable",
            "`load` is a keyword and cannot be a name",
            "`process` is a keyword and cannot be the name of a label",
        ],
    );
    check(
        "process p { final = 1; }",
        &["`final` is a keyword and cannot be a name"],
    );
    check(
        "process p { r = final + 1; }",
        &["expected an expression, found the keyword `final`"],
    );
    check("process p { r = 1 @ 2; skip; }", &["unknown character '@'"]);
    check("process p { skip; /* ", &["this comment is never closed"]);
    check(
        "process p { skip; mutex a;",
        &["expected `}`, found `mutex`"],
    );
    check(
        "process p[i in 0..1] { skip } mutex a",
        &[
            "expected `..=`, found `.`",
            "expected `;`, found `}`",
            "expected `;`, found the end of the file",
        ],
    );
    check(
        "forbid 2147483648;",
        &["integer literal does not fit 32 bits"],
    );
    check(
        "process p { if (*) int x; L: }",
        &[
            "a declaration must stand directly in a block",
            "expected a statement, found `}`",
        ],
    );
    check("}", &["this `}` closes nothing"]);
    check("", &[]);
}

#[test]
fn deep_trees_are_never_built() {
    let deep = |open: &str, middle: &str, close: &str, times: usize| {
        format!("{}{middle}{}", open.repeat(times), close.repeat(times))
    };
    for times in [300, 100_000] {
        for text in [
            format!("forbid {};", deep("(", "1", ")", times)),
            format!("forbid {};", deep("!", "1", "", times)),
            format!("forbid {};", deep("-", "x", "", times)),
            format!("forbid {};", deep("x[", "1", "]", times)),
            format!("forbid {};", deep("1+", "1", "", times)),
            format!("forbid {};", deep("1 ? 1 : ", "1", "", times)),
            format!("forbid {};", deep("1 ? ", "1", ": 1", times)),
            format!("forbid {};", deep("1 + (1 * ", "1", ")", times)),
            format!("process p {}", deep("{", "skip;", "}", times)),
            format!("process p {{ {} }}", deep("if (*) ", "skip;", "", times)),
            format!(
                "process p {{ {} }}",
                deep("if (*) skip; else ", "skip;", "", times)
            ),
            format!(
                "process p {{ {} }}",
                deep("do ", "skip;", "while (*);", times)
            ),
            format!("process p {{ {} }}", deep("L: ", "skip;", "", times)),
            format!(
                "process p {{ {} }}",
                deep("either { skip; } or {", "", "}", times)
            ),
            format!(
                "process p {{ {} }}",
                deep("atomic { nofence {", "", "}}", times)
            ),
        ] {
            assert_eq!(errors(&text), ["nested too deeply: more than 200 levels"]);
        }
    }
    assert_eq!(
        errors(&format!("forbid {};", deep("1+", "1", "", 190))).len(),
        0
    );
    assert_eq!(
        errors(&format!("process p {}", deep("{", "skip;", "}", 190))).len(),
        0
    );
}

#[test]
fn errors_are_capped() {
    let found = errors(&"process p { = }\n".repeat(1000));
    assert_eq!(found.len(), 21);
    assert_eq!(found[20], "and 980 more errors");
}

/// What the only statement of a process assigns.
fn assigned(statement: &str) -> String {
    use crate::lang::ast::{Member, StmtKind};
    let ast = parse(&Source::new("t", format!("process p {{ {statement} }}"))).expect("parses");
    let [Item::Process(process)] = &ast.items[..] else {
        panic!("{:?}", ast.items);
    };
    match &process.body.members[..] {
        [Member::Statement(statement)] => match &statement.kind {
            StmtKind::Assign { target, value } => format!("{}={}", target.text, show(value)),
            StmtKind::AssignCell {
                target,
                index,
                value,
            } => format!("{}[{}]={}", target.text, show(index), show(value)),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn assignments_that_combine() {
    let cases = [
        ("i++;", "i=(i+1)"),
        ("i--;", "i=(i-1)"),
        ("i += 2 * j;", "i=(i+(2*j))"),
        ("i -= j - 1;", "i=(i-(j-1))"),
        ("i *= j + 1;", "i=(i*(j+1))"),
        ("a[j]++;", "a[j]=(a[j]+1)"),
        ("a[j + 1] -= 2;", "a[(j+1)]=(a[(j+1)]-2)"),
    ];
    for (text, expected) in cases {
        assert_eq!(assigned(text), expected, "{text}");
    }
    for text in [
        "i + +;", "i + = 1;", "i +;", "i /= 2;", "i+++;", "++i;", "i++",
    ] {
        let text = format!("process p {{ {text} }}");
        assert!(!errors(&text).is_empty(), "{text}");
    }
}

#[test]
fn familiar_words_have_hints() {
    let help = |statement: &str| {
        let text = format!("process p {{ {statement} }}");
        let found = parse(&Source::new("t", text)).expect_err("it is no statement");
        found[0].help.clone().unwrap_or_default()
    };
    let cases = [
        ("fetch_add(x, 1);", "`add r = x, 1;`"),
        ("atomic_fetch_add_explicit(x, 1);", "`add r = x, 1;`"),
        ("xchg(x, 1);", "`swap r = x, 1;`"),
        ("smp_mb();", "`fence;`"),
        ("for (;;) { }", "`while (c) { … }`"),
        ("return;", "`stop;`"),
        ("wait_until(x == 1);", "`await (x != 0);`"),
        ("int r; r = fetch_add(x, 1);", "`add r = x, 1;`"),
        ("int r; r = atomic_exchange(x, 1) + 1;", "`swap r = x, 1;`"),
        ("int r; r = atomic_load(x);", "`load r = x;`"),
        ("int r; if (atomic_load(x)) skip;", "`load r = x;`"),
        ("stroe x = 1;", "did you mean `store`?"),
    ];
    for (statement, expected) in cases {
        let help = help(statement);
        assert!(help.contains(expected), "{statement}: {help}");
    }
}

#[test]
fn enumerations_are_constants() {
    let constants = |text: &str| -> Vec<String> {
        let ast = parse(&Source::new("t", text)).expect("parses");
        let constants = ast.items.iter().map(|item| match item {
            Item::Const { name, value } => format!("{}={}", name.text, show(value)),
            other => panic!("{other:?}"),
        });
        constants.collect()
    };
    assert_eq!(
        constants("enum { IDLE, BUSY, DONE }"),
        ["IDLE=0", "BUSY=1", "DONE=2"]
    );
    assert_eq!(
        constants("enum { A, } const B = 7; enum { C };"),
        ["A=0", "B=7", "C=0"]
    );
    for text in [
        "enum { }",
        "enum { A B }",
        "enum { A",
        "enum A;",
        "enum { A = 1 }",
    ] {
        assert!(!errors(text).is_empty(), "{text}");
    }
}
