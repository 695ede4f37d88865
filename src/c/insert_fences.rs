//! Fences typed into C files, whose comments and layout stay as they are.

use super::tokens::{Token, tokens};
use crate::lang::insert_fences::{Insertion, Layout, Lexeme, LexemeKind, newline, with_edits};
use crate::program::{FenceKind, FenceSite, Side};
use crate::source::{Source, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A file of the user and its text with fences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FencedFile {
    pub name: String,
    /// Where the file stands in the source.
    pub span: Span,
    pub text: String,
}

/// The files that get fences, in the order of the source, with the fences typed in, and with
/// the header that declares them.
pub fn insert_fences(source: &Source, fences: &[(FenceSite, FenceKind)]) -> Vec<FencedFile> {
    let files: Vec<File> = source.files().map(|file| File::new(source, file)).collect();
    let mut fenced = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let own = fences.iter().filter(|(site, _)| file.holds(site.statement));
        let own: Vec<_> = own.map(|(site, kind)| (file.local(site), *kind)).collect();
        if own.is_empty() {
            continue;
        }
        let mut insertions = file.layout().insertions(&own);
        let first = insertions.iter().map(|(offset, _)| *offset).min();
        let typed = !insertions.is_empty();
        if typed && !declares_fences(&files, index) {
            insertions.push(file.include(first.unwrap_or(0)));
        }
        fenced.push(FencedFile {
            name: file.name.to_string(),
            span: file.span,
            text: with_edits(file.text, insertions, file.orders(&own)),
        });
    }
    fenced
}

/// The header that declares fences.
const HEADER: &str = "stdatomic.h";

/// How a fence is typed. C has none that orders stores before loads alone.
fn words(kind: FenceKind) -> &'static str {
    match kind {
        FenceKind::Full | FenceKind::StoreLoad => "atomic_thread_fence(memory_order_seq_cst);",
        FenceKind::StoreStore => "atomic_thread_fence(memory_order_release);",
    }
}

/// Whether a file includes the header, itself or in a file that it includes.
fn declares_fences(files: &[File], index: usize) -> bool {
    let mut seen = BTreeSet::from([index]);
    let mut open = vec![index];
    while let Some(index) = open.pop() {
        for include in &files[index].includes {
            if include.path == HEADER {
                return true;
            }
            let named = files.iter().enumerate().skip(1);
            let named = named.filter(|(_, file)| file.is_called(&include.path));
            open.extend(
                named
                    .map(|(index, _)| index)
                    .filter(|index| seen.insert(*index)),
            );
        }
    }
    false
}

/// A file of the user.
struct File<'a> {
    name: &'a str,
    text: &'a str,
    span: Span,
    tokens: Vec<Token<'a>>,
    includes: Vec<Include>,
    /// The end of the comments that it begins with.
    behind_comments: usize,
}

/// A directive outside of braces that includes a file.
struct Include {
    path: String,
    /// The end of its line, the line break included.
    behind: usize,
    /// The number of `#if` around it.
    depth: usize,
}

impl<'a> File<'a> {
    fn new(source: &'a Source, (name, span): (&'a str, Span)) -> File<'a> {
        let text = source.slice(span);
        let tokens = tokens(text);
        let first = tokens
            .first()
            .map_or(text.len(), |first| first.span.start as usize);
        let before = &text[..first];
        let ends = [before.rfind("*/"), before.rfind("//")];
        let last = ends.into_iter().flatten().max();
        let behind_comments = last.map_or(0, |last| behind_line(text, last));
        File {
            name,
            text,
            span,
            includes: includes(text, &tokens),
            tokens,
            behind_comments,
        }
    }

    /// Whether a piece of the source is in the file.
    fn holds(&self, piece: Span) -> bool {
        self.span.start <= piece.start && piece.end <= self.span.end
    }

    /// A site by offsets into the file.
    fn local(&self, site: &FenceSite) -> FenceSite {
        let local = |span: Span| Span {
            start: span.start - self.span.start,
            end: span.end - self.span.start,
        };
        FenceSite {
            side: site.side,
            statement: local(site.statement),
            body: site.body.map(local),
        }
    }

    /// Whether a directive that includes `path` may mean this file.
    fn is_called(&self, path: &str) -> bool {
        let path = path.trim_start_matches("./").trim_start_matches("../");
        let rest = self.name.strip_suffix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
    }

    fn layout(&self) -> Layout<'a> {
        let lexeme = |token: &Token| Lexeme {
            span: token.span,
            kind: match &*token.text {
                ":" => LexemeKind::Colon,
                text if text.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                    LexemeKind::Name
                }
                _ => LexemeKind::Other,
            },
        };
        Layout::new(self.text, self.tokens.iter().map(lexeme).collect(), words)
    }

    /// Memory orders that become stronger; the strongest one counts.
    fn orders(&self, fences: &[(FenceSite, FenceKind)]) -> BTreeMap<Span, String> {
        let mut orders = BTreeMap::new();
        for (site, _) in fences {
            let old = &self.text[site.statement.start as usize..site.statement.end as usize];
            let gnu = old.starts_with("__ATOMIC");
            let new = match (site.side, gnu) {
                (Side::Release, false) => "memory_order_release",
                (Side::Release, true) => "__ATOMIC_RELEASE",
                (Side::SeqCst, false) => "memory_order_seq_cst",
                (Side::SeqCst, true) => "__ATOMIC_SEQ_CST",
                (Side::Before | Side::After | Side::Inside, _) => continue,
            };
            let strong = site.side == Side::SeqCst;
            let order = orders.entry(site.statement).or_insert_with(String::new);
            if strong || order.is_empty() {
                *order = new.to_string();
            }
        }
        orders
    }

    /// The directive that includes the header: behind the last one before `first` that is as
    /// little conditional as any, or behind the comments that the file begins with.
    fn include(&self, first: usize) -> Insertion {
        let before = || {
            self.includes
                .iter()
                .filter(|include| include.behind <= first)
        };
        let least = before().map(|include| include.depth).min();
        let last = before().rfind(|include| Some(include.depth) == least);
        let at = last.map_or(self.behind_comments, |last| last.behind);
        let newline = newline(self.text);
        let before = match self.text[..at].ends_with('\n') || at == 0 {
            true => "",
            false => newline,
        };
        (at, format!("{before}#include <{HEADER}>{newline}"))
    }
}

/// The end of the line of an offset, the line break included.
fn behind_line(text: &str, offset: usize) -> usize {
    text[offset..]
        .find('\n')
        .map_or(text.len(), |at| offset + at + 1)
}

/// The directives of a file that include others, outside of braces.
fn includes(text: &str, tokens: &[Token]) -> Vec<Include> {
    let mut found = Vec::new();
    let (mut depth, mut braces) = (0_usize, 0_usize);
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if !token.begins_line || token.text != "#" {
            match &*token.text {
                "{" => braces += 1,
                "}" => braces = braces.saturating_sub(1),
                _ => {}
            }
            continue;
        }
        let rest = &tokens[at..];
        let length = rest.iter().position(|token| token.begins_line);
        let line = &rest[..length.unwrap_or(rest.len())];
        at += line.len();
        match line.first().map_or("", |word| &*word.text) {
            "if" | "ifdef" | "ifndef" => depth += 1,
            "endif" => depth = depth.saturating_sub(1),
            "include" if braces == 0 => found.extend(include(text, &line[1..], depth)),
            _ => {}
        }
    }
    found
}

/// The file that a directive includes; `name` are the tokens behind its first word.
fn include(text: &str, name: &[Token], depth: usize) -> Option<Include> {
    let (first, last) = (name.first()?, name.last()?);
    let spelled = &text[first.span.start as usize..last.span.end as usize];
    let path = spelled
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
        .or_else(|| spelled.strip_prefix('"')?.split_once('"'))
        .map(|(path, _)| path)?;
    Some(Include {
        path: path.to_string(),
        behind: behind_line(text, last.span.end as usize),
        depth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Side;

    /// A file with fences next to the statements that these are.
    fn fenced(text: &str, sites: &[(&str, Side)]) -> String {
        let source = Source::new("main.c", text);
        let fences = sites.iter().map(|(statement, side)| {
            let start = text.find(statement).expect("it is there");
            let site = FenceSite {
                side: *side,
                statement: Span::new(start, start + statement.len()),
                body: None,
            };
            (site, FenceKind::Full)
        });
        let files = insert_fences(&source, &fences.collect::<Vec<_>>());
        files[0]
            .text
            .replace("atomic_thread_fence(memory_order_seq_cst)", "F()")
    }

    #[test]
    fn the_header_is_included_once() {
        let check = |text: &str, expected: &str| {
            assert_eq!(fenced(text, &[("x = 1;", Side::After)]), expected);
        };
        let body = "void f(void) { x = 1; }\n";
        let with = "void f(void) { x = 1; F(); }\n";
        let put = "#include <stdatomic.h>\n";
        check(body, &format!("{put}{with}"));
        check(
            &format!("#include <stdatomic.h>\n{body}"),
            &format!("{put}{with}"),
        );
        check(
            &format!("# include /**/<a.h> // b\n{body}"),
            &format!("# include /**/<a.h> // b\n{put}{with}"),
        );
        check(
            &format!("// a\n/* b\n c */\n\n{body}"),
            &format!("// a\n/* b\n c */\n{put}\n{with}"),
        );
        let guarded = "#ifndef A\n#define A\n#include <a.h>\n#ifdef B\n#include \"b.h\"\n#endif\n";
        let expected = guarded.replace("<a.h>\n", "<a.h>\n#include <stdatomic.h>\n");
        check(
            &format!("{guarded}{body}#endif\n"),
            &format!("{expected}{with}#endif\n"),
        );
        check(
            &format!("{body}#include \"tail.c\"\n"),
            &format!("{put}{with}#include \"tail.c\"\n"),
        );
        check(
            &format!("#include <a.h>\r\n{body}"),
            &format!("#include <a.h>\r\n#include <stdatomic.h>\r\n{with}"),
        );
    }

    #[test]
    fn lines_and_labels() {
        let text =
            "#include <stdatomic.h>\nvoid f(void) {\n    x = 1; // c\n  again:\n    y = 2;\n}\n";
        let expected = "#include <stdatomic.h>\nvoid f(void) {\n    x = 1; // c\n    F();\n  again:\n    F();\n    y = 2;\n}\n";
        assert_eq!(
            fenced(text, &[("x = 1;", Side::After), ("y = 2;", Side::Before)]),
            expected
        );
    }

    #[test]
    fn files_have_their_own_headers() {
        let mut source = Source::new(
            "src/main.c",
            "#include \"../inc/lock.h\"\nvoid f(void) { x; }\n",
        );
        source.add(
            "inc/lock.h",
            "#include <stdatomic.h>\nvoid g(void) { y; }\n",
        );
        source.add("inc/other.h", "void h(void) { z; }\n");
        let site = |word: &str| {
            let start = source.text().find(word).expect("it is there");
            let site = FenceSite {
                side: Side::Before,
                statement: Span::new(start, start + word.len()),
                body: None,
            };
            (site, FenceKind::StoreStore)
        };
        let files = insert_fences(&source, &[site("x;"), site("z;")]);
        let texts: Vec<(&str, &str)> = files.iter().map(|f| (&f.name[..], &f.text[..])).collect();
        let fence = "atomic_thread_fence(memory_order_release);";
        let main = format!("#include \"../inc/lock.h\"\nvoid f(void) {{ {fence} x; }}\n");
        let other = format!("#include <stdatomic.h>\nvoid h(void) {{ {fence} z; }}\n");
        assert_eq!(
            texts,
            [("src/main.c", &main[..]), ("inc/other.h", &other[..])]
        );
    }
}
