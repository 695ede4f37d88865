//! Macros, expanded token by token. What comes out of a call stands where the call stood.

use crate::import::scan::{Read, Token, TokenKind, shortened, wrong};
use crate::source::Span;
use std::collections::HashMap;

/// Calls inside macros go at most this deep.
const DEEPEST: usize = 32;

/// A file may grow to this many tokens.
const MOST_TOKENS: usize = 1 << 20;

struct Macro<'a> {
    parameters: Vec<&'a str>,
    body: Vec<Token<'a>>,
}

type Macros<'a> = HashMap<&'a str, Macro<'a>>;

/// Takes the definitions out and replaces every call by its body.
pub fn expand<'a>(tokens: &[Token<'a>]) -> Read<Vec<Token<'a>>> {
    let mut macros = Macros::new();
    let mut rest = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].text == "macro" {
            at = define(tokens, at, &mut macros)?;
        } else {
            rest.push(tokens[at]);
            at += 1;
        }
    }
    let mut out = Vec::with_capacity(rest.len());
    call(&rest, &macros, None, 0, &mut out)?;
    Ok(out)
}

/// Reads `macro name(a, b) … endmacro`; gives the index behind it.
fn define<'a>(tokens: &[Token<'a>], start: usize, macros: &mut Macros<'a>) -> Read<usize> {
    let opening = tokens[start].span;
    let name = tokens[start + 1];
    if name.kind != TokenKind::Word {
        return Err(wrong(name.span, "a macro needs a name"));
    }
    let mut at = start + 2;
    let mut parameters = Vec::new();
    if tokens[at].text == "(" {
        at += 1;
        while tokens[at].text != ")" {
            if tokens[at].kind != TokenKind::Word {
                let message = format!("expected a parameter, found `{}`", tokens[at].text);
                return Err(wrong(tokens[at].span, message));
            }
            parameters.push(tokens[at].text);
            at += 1;
            match tokens[at].text {
                "," => at += 1,
                ")" => {}
                other => {
                    let message = format!("expected `,` or `)`, found `{}`", shortened(other));
                    return Err(wrong(tokens[at].span, message));
                }
            }
        }
        at += 1;
    }
    let length = tokens[at..].iter().position(|t| t.text == "endmacro");
    let Some(length) = length else {
        return Err(wrong(
            opening,
            "this macro never ends: `endmacro` is missing",
        ));
    };
    let body = tokens[at..at + length].to_vec();
    if macros
        .insert(name.text, Macro { parameters, body })
        .is_some()
    {
        let message = format!("there are two macros '{}'", shortened(name.text));
        return Err(wrong(name.span, message));
    }
    Ok(at + length + 1)
}

/// Copies tokens, calls expanded; inside a call all stand where the outermost one stood.
fn call<'a>(
    tokens: &[Token<'a>],
    macros: &Macros<'a>,
    place: Option<Span>,
    depth: usize,
    out: &mut Vec<Token<'a>>,
) -> Read<()> {
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        let called = macros
            .get(token.text)
            .filter(|_| token.kind == TokenKind::Word);
        let Some(called) = called else {
            let span = place.unwrap_or(token.span);
            out.push(Token { span, ..token });
            at += 1;
            continue;
        };
        let span = place.unwrap_or(token.span);
        if depth == DEEPEST {
            return Err(wrong(span, "macros call each other too deeply"));
        }
        let (arguments, end) = arguments(tokens, at + 1, span)?;
        if arguments.len() != called.parameters.len() {
            let message = format!(
                "the macro '{}' takes {} arguments, not {}",
                shortened(token.text),
                called.parameters.len(),
                arguments.len()
            );
            return Err(wrong(span, message));
        }
        let last = tokens[end - 1].span;
        let mut body = Vec::new();
        for token in &called.body {
            let parameter = called.parameters.iter().position(|p| *p == token.text);
            match parameter {
                Some(index) => body.extend_from_slice(&arguments[index]),
                None => body.push(*token),
            }
            if body.len() + out.len() > MOST_TOKENS {
                return Err(wrong(span, "the macros make the file too large"));
            }
        }
        let whole = place.unwrap_or(token.span.to(last));
        call(&body, macros, Some(whole), depth + 1, out)?;
        at = end;
    }
    Ok(())
}

/// The arguments in parentheses, if there are any, and the index behind them.
fn arguments<'a>(
    tokens: &[Token<'a>],
    start: usize,
    span: Span,
) -> Read<(Vec<Vec<Token<'a>>>, usize)> {
    if tokens.get(start).is_none_or(|token| token.text != "(") {
        return Ok((Vec::new(), start));
    }
    let mut arguments = vec![Vec::new()];
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        match token.text {
            ")" if depth == 0 => {
                if arguments.len() == 1 && arguments[0].is_empty() {
                    arguments.clear();
                }
                return Ok((arguments, at + 1));
            }
            "(" if at == start => {}
            "," if depth == 1 => arguments.push(Vec::new()),
            _ => arguments.last_mut().expect("there is one").push(*token),
        }
    }
    Err(wrong(span, "the arguments of this macro never end"))
}
