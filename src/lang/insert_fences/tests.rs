use super::*;
use crate::lang::ast::{Ast, Block, Item, Member, Stmt, StmtKind};
use crate::lang::parser::parse;

const PROGRAMS: [&str; 7] = [
    include_str!("programs/peterson.fen"),
    include_str!("programs/shapes.fen"),
    "process p{bool r;L:store x=1;load r=x;if(r)skip;else if(*)M:skip;else{}while(r)do skip;while(r);}",
    "process p {\r\n    bool r;\r\n    if (r)\r\n        skip; // one\r\n    else\r\n        L: skip;\r\n    \
     while (*) {\r\n    }\r\n}\r\n",
    "process p { foo: while (*)\n      skip; /* a */ // b\n }",
    "process p { skip; while (*)\n      if (*) skip; // c\n  \n M:\n   N: skip; /* d\n */ skip; }",
    "process p {\n\tL:\n\t\tif (*)\n\t\t\tif (*) skip;\n\t\t\telse skip;\n\tM: skip; }",
];

fn parsed(text: &str) -> Ast {
    let source = Source::new("t", text);
    match parse(&source) {
        Ok(ast) => ast,
        Err(errors) => panic!(
            "{text}\n{}",
            crate::diagnostic::render(&source, &errors, false)
        ),
    }
}

/// Every site of a program.
fn sites(ast: &Ast) -> Vec<FenceSite> {
    let mut found = Vec::new();
    for item in &ast.items {
        if let Item::Process(process) = item {
            spots_in_block(&process.body, &mut found);
        }
    }
    found
}

fn spots_in_block(block: &Block, found: &mut Vec<FenceSite>) {
    let mut empty = true;
    for member in &block.members {
        if let Member::Statement(statement) = member {
            empty = false;
            spots_at(statement, None, found);
        }
    }
    if empty {
        let (side, statement, body) = (Side::Inside, block.span, None);
        found.push(FenceSite {
            side,
            statement,
            body,
        });
    }
}

fn spots_at(stmt: &Stmt, body: Option<Span>, found: &mut Vec<FenceSite>) {
    let statement = stmt.span;
    for side in [Side::Before, Side::After] {
        found.push(FenceSite {
            side,
            statement,
            body,
        });
    }
    match &stmt.kind {
        StmtKind::Labelled { statement, .. } => spots_at(statement, body, found),
        StmtKind::If {
            then, otherwise, ..
        } => {
            spots_in_body(then, found);
            if let Some(otherwise) = otherwise {
                spots_in_body(otherwise, found);
            }
        }
        StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => spots_in_body(body, found),
        StmtKind::Either(branches) => branches.iter().for_each(|b| spots_in_block(b, found)),
        StmtKind::Nofence(b) | StmtKind::Atomic(b) | StmtKind::Block(b) => {
            spots_in_block(b, found);
        }
        _ => {}
    }
}

fn spots_in_body(stmt: &Stmt, found: &mut Vec<FenceSite>) {
    match &stmt.kind {
        StmtKind::Block(block) => spots_in_block(block, found),
        _ => spots_at(stmt, Some(stmt.span), found),
    }
}

/// The tree with fences put in, without any regard to text.
fn with_fences(ast: &Ast, fences: &[(FenceSite, FenceKind)]) -> Ast {
    let mut ast = ast.clone();
    for item in &mut ast.items {
        if let Item::Process(process) = item {
            fence_block(&mut process.body, fences);
        }
    }
    ast
}

fn fence_block(block: &mut Block, fences: &[(FenceSite, FenceKind)]) {
    let mut members = Vec::new();
    for member in std::mem::take(&mut block.members) {
        match member {
            Member::Statement(statement) => {
                let fenced = fence_statement(statement, fences);
                members.extend(fenced.into_iter().map(Member::Statement));
            }
            locals => members.push(locals),
        }
    }
    let inside = fences_at(Side::Inside, block.span, fences);
    members.extend(inside.into_iter().map(Member::Statement));
    block.members = members;
}

fn fences_at(side: Side, span: Span, fences: &[(FenceSite, FenceKind)]) -> Vec<Stmt> {
    let here = |(site, _): &&(FenceSite, FenceKind)| site.side == side && site.statement == span;
    let statement = |(_, kind): &(FenceSite, FenceKind)| Stmt {
        kind: StmtKind::Fence(*kind),
        span,
    };
    fences.iter().filter(here).map(statement).collect()
}

/// The statement with its fences around it: a label moves to what comes first behind it.
fn fence_statement(mut stmt: Stmt, fences: &[(FenceSite, FenceKind)]) -> Vec<Stmt> {
    let span = stmt.span;
    let mut all = fences_at(Side::Before, span, fences);
    match &mut stmt.kind {
        StmtKind::If {
            then, otherwise, ..
        } => {
            fence_body(then, fences);
            if let Some(otherwise) = otherwise {
                fence_body(otherwise, fences);
            }
        }
        StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => fence_body(body, fences),
        StmtKind::Either(branches) => branches.iter_mut().for_each(|b| fence_block(b, fences)),
        StmtKind::Nofence(b) | StmtKind::Atomic(b) | StmtKind::Block(b) => fence_block(b, fences),
        _ => {}
    }
    match stmt.kind {
        StmtKind::Labelled { label, statement } => {
            let mut behind = fence_statement(*statement, fences).into_iter();
            let statement = Box::new(behind.next().expect("a statement"));
            let kind = StmtKind::Labelled { label, statement };
            all.push(Stmt { kind, span });
            all.extend(behind);
        }
        kind => all.push(Stmt { kind, span }),
    }
    all.extend(fences_at(Side::After, span, fences));
    all
}

fn fence_body(body: &mut Stmt, fences: &[(FenceSite, FenceKind)]) {
    let span = body.span;
    if let StmtKind::Block(block) = &mut body.kind {
        return fence_block(block, fences);
    }
    let fenced = fence_statement(body.clone(), fences);
    let members: Vec<Member> = fenced.into_iter().map(Member::Statement).collect();
    *body = match <[Member; 1]>::try_from(members) {
        Ok([Member::Statement(single)]) => single,
        Ok(other) => panic!("{other:?}"),
        Err(members) => Stmt {
            kind: StmtKind::Block(Block { members, span }),
            span,
        },
    };
}

/// A tree without its spans.
fn shape(ast: &Ast) -> String {
    let text = format!("{ast:?}");
    let mut parts = text.split("Span { start: ");
    let mut shape = parts.next().unwrap_or_default().to_string();
    for part in parts {
        shape.push_str(part.split_once('}').expect("a span").1);
    }
    shape
}

fn check(text: &str, fences: &[(FenceSite, FenceKind)]) {
    let ast = parsed(text);
    let printed = insert_fences(&Source::new("t", text), fences);
    let expected = shape(&with_fences(&ast, fences));
    assert_eq!(shape(&parsed(&printed)), expected, "{fences:?}\n{printed}");
}

#[test]
fn every_spot_by_itself() {
    for text in PROGRAMS {
        for site in sites(&parsed(text)) {
            check(text, &[(site, FenceKind::Full)]);
        }
    }
}

#[test]
fn every_pair_of_spots() {
    for text in PROGRAMS {
        let sites = sites(&parsed(text));
        for (index, first) in sites.iter().enumerate() {
            for second in &sites[index..] {
                let kinds = [FenceKind::StoreStore, FenceKind::StoreLoad];
                check(text, &[(*first, kinds[0]), (*second, kinds[1])]);
            }
        }
    }
}

#[test]
fn all_spots_at_once() {
    for text in PROGRAMS {
        let all: Vec<_> = sites(&parsed(text))
            .into_iter()
            .map(|s| (s, FenceKind::Full))
            .collect();
        check(text, &all);
        for parity in [0, 1] {
            let some: Vec<_> = all.iter().copied().skip(parity).step_by(2).collect();
            check(text, &some);
        }
    }
}

#[test]
fn no_fences_no_change() {
    for text in PROGRAMS {
        assert_eq!(insert_fences(&Source::new("t", text), &[]), text);
    }
}

/// The text with `fence;` on the given sides of the statements that begin with a word.
fn fenced(text: &str, wanted: &[(Side, &str)]) -> String {
    let source = Source::new("t", text);
    let sites = sites(&parsed(text));
    let find = |(side, word): &(Side, &str)| {
        let at = |site: &&FenceSite| {
            site.side == *side && source.slice(site.statement).starts_with(word)
        };
        let site = sites.iter().find(at).expect("such a statement");
        (*site, FenceKind::Full)
    };
    let fences: Vec<_> = wanted.iter().map(find).collect();
    insert_fences(&source, &fences)
}

#[test]
fn layout() {
    use Side::*;
    let process = |body: &str| format!("process p {{\n{body}}}\n");
    let look = |body: &str, wanted: &[(Side, &str)], expected: &str| {
        assert_eq!(fenced(&process(body), wanted), process(expected));
    };
    let lines = "    store x = 1; // raise\n    load r = y;\n";
    look(
        lines,
        &[(After, "store")],
        "    store x = 1; // raise\n    fence;\n    load r = y;\n",
    );
    look(
        lines,
        &[(Before, "load"), (Before, "store")],
        "    fence;\n    store x = 1; // raise\n    fence;\n    load r = y;\n",
    );
    look(
        "    store x = 1; load r = y;\n",
        &[(After, "store"), (After, "load")],
        "    store x = 1; fence; load r = y; fence;\n",
    );
    look(
        "    if (c) skip; // why\n",
        &[(Before, "skip")],
        "    if (c) { fence; skip; } // why\n",
    );
    look(
        "    if (c)\n        skip; // why\n    else\n        stop;\n",
        &[(Before, "skip"), (After, "skip"), (After, "stop")],
        "    if (c) {\n        fence;\n        skip; // why\n        fence;\n    }\n    else {\n        \
         stop;\n        fence;\n    }\n",
    );
    look(
        "    while (*) // spin\n        if (*)\n            skip;\n",
        &[(After, "while"), (After, "if"), (After, "skip")],
        "    while (*) { // spin\n        if (*) {\n            skip;\n            fence;\n        }\n        \
         fence;\n    }\n    fence;\n",
    );
    look(
        "  L:\n    skip;\n    stop;\n",
        &[(Before, "L"), (Before, "skip"), (After, "L")],
        "    fence;\n  L:\n    fence;\n    skip;\n    fence;\n    stop;\n",
    );
    look(
        "    L: skip;\n",
        &[(Before, "skip"), (After, "skip")],
        "    L: fence; skip;\n    fence;\n",
    );
    look(
        "    while (*) {\n        // nothing\n    }\n    either {} or { }\n",
        &[(Inside, "{\n"), (Inside, "{}"), (Inside, "{ ")],
        "    while (*) {\n        // nothing\n        fence;\n    }\n    either { fence; } or { fence; }\n",
    );
    look(
        "    do skip; while (*);\n",
        &[(After, "skip"), (Before, "do")],
        "    fence;\n    do { skip; fence; } while (*);\n",
    );
}
