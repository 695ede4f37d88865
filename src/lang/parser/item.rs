//! Items, declarations and ranges.

use super::{ITEM_KEYWORDS, Parsed, Parser, Reported, is};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    Ast, Declaration, Expr, ExprKind, Init, Item, Parameter, Predicate, Process, Property, Range,
    Type, Variable,
};
use crate::lang::lexer::{KEYWORDS, TokenKind};
use crate::program::PropertyKind;

impl Parser<'_> {
    /// Parses to the end of the text, going on at the next item after an error.
    pub(super) fn program(&mut self) -> Ast {
        let mut items = Vec::new();
        while !self.at_end() {
            let parsed = if self.at_enum() {
                self.enumeration(&mut items)
            } else if self.at_macro() {
                self.pass_macro()
            } else {
                self.item().map(|item| items.push(item))
            };
            if let Err(Reported) = parsed {
                self.skip_to_item();
            }
        }
        Ast { items }
    }

    /// `enum {` comes next; `enum` alone is a name like others.
    fn at_enum(&self) -> bool {
        let token = self.token();
        token.kind == TokenKind::Name
            && self.source.slice(token.span) == "enum"
            && is(self.peek(1), "{")
    }

    /// `enum { A, B, C }`: constants 0, 1, 2.
    fn enumeration(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        self.bump();
        self.expect("{")?;
        for number in 0.. {
            let name = self.name("a constant")?;
            let kind = ExprKind::Int(number);
            let span = name.span;
            let value = Expr { kind, span };
            items.push(Item::Const { name, value });
            let more = self.eat(",");
            if self.eat("}") {
                break;
            }
            if !more {
                return Err(self.expected("`,` or `}`"));
            }
        }
        self.eat(";");
        Ok(())
    }

    fn skip_to_item(&mut self) {
        while !self.at_end() && !self.at_any(&ITEM_KEYWORDS) {
            self.bump();
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let first = self.token();
        let keyword = match first.kind {
            TokenKind::Keyword(word) if ITEM_KEYWORDS.contains(&word) => word,
            _ => return Err(self.no_item()),
        };
        self.bump();
        let kind = match keyword {
            "const" => {
                let name = self.name("a constant")?;
                self.expect("=")?;
                let value = self.expression()?;
                self.expect(";")?;
                return Ok(Item::Const { name, value });
            }
            "shared" => {
                let mut declaration = self.declaration()?;
                declaration.span = self.since(first.span);
                return Ok(Item::Shared(declaration));
            }
            "process" => return self.process().map(Item::Process),
            "mutex" => PropertyKind::Mutex,
            "forbid" => PropertyKind::Forbid,
            "invariant" => PropertyKind::Invariant,
            _ => PropertyKind::Final,
        };
        let predicate = match kind {
            PropertyKind::Mutex => Predicate::TwoAt(self.name("a label")?),
            _ => Predicate::Expr(self.expression()?),
        };
        self.expect(";")?;
        let span = self.since(first.span);
        Ok(Item::Property(Property {
            kind,
            predicate,
            span,
        }))
    }

    /// Reports something that begins no item.
    fn no_item(&mut self) -> Reported {
        let found = self.found();
        let (message, help) = match self.token().kind {
            TokenKind::Symbol("}") => ("this `}` closes nothing".to_string(), None),
            TokenKind::Keyword("bool" | "int" | "integer") => (
                format!("expected an item, found {found}"),
                Some("shared variables are declared with `shared`, locals inside a process"),
            ),
            TokenKind::Keyword(_) => (
                format!("expected an item, found {found}"),
                Some("statements stand inside a process"),
            ),
            _ => (
                format!("expected an item, found {found}"),
                Some("an item begins with `const`, `shared`, `process` or a property"),
            ),
        };
        let mut diagnostic = Diagnostic::error(self.here(), message);
        diagnostic.help = help.map(str::to_string);
        if self.token().kind == TokenKind::Name
            && let Some(keyword) = nearest_keyword(self.text(), &ITEM_KEYWORDS)
        {
            diagnostic = diagnostic.help(format!("did you mean `{keyword}`?"));
        }
        self.error(diagnostic)
    }

    fn process(&mut self) -> Parsed<Process> {
        let header = self.process_header();
        if header.is_err() {
            while !self.at_end() && !self.at("{") && !self.at_any(&ITEM_KEYWORDS) {
                self.bump();
            }
        }
        let body = self.block()?;
        let (name, parameter) = header?;
        Ok(Process {
            name,
            parameter,
            body,
        })
    }

    fn process_header(&mut self) -> Parsed<(crate::lang::ast::Name, Option<Parameter>)> {
        let name = self.name("a process")?;
        let mut parameter = None;
        if self.eat("[") {
            let name = self.name("a parameter")?;
            self.expect("in")?;
            let range = self.range()?;
            self.expect("]")?;
            parameter = Some(Parameter { name, range });
        }
        if !self.at("{") {
            return Err(self.expected("`{`"));
        }
        Ok((name, parameter))
    }

    /// `type decl, decl;`
    pub(super) fn declaration(&mut self) -> Parsed<Declaration> {
        let first = self.token().span;
        let ty = self.declared_type()?;
        let mut variables = vec![self.variable()?];
        while self.eat(",") {
            variables.push(self.variable()?);
        }
        self.expect(";")?;
        let span = self.since(first);
        Ok(Declaration {
            ty,
            variables,
            span,
        })
    }

    fn declared_type(&mut self) -> Parsed<Type> {
        if self.eat("bool") {
            return Ok(Type::Bool);
        }
        if self.eat("integer") {
            return Ok(Type::Integer);
        }
        if !self.eat("int") {
            return Err(self.expected("`bool`, `int` or `integer`"));
        }
        if !self.eat("[") {
            return Ok(Type::Int);
        }
        let range = self.range()?;
        self.expect("]")?;
        Ok(Type::Ranged(range))
    }

    fn variable(&mut self) -> Parsed<Variable> {
        let name = self.name("a variable")?;
        let len = self.indices()?.map(|(len, _)| len);
        let init = if self.eat("=") {
            Some(self.initialiser()?)
        } else {
            None
        };
        Ok(Variable { name, len, init })
    }

    fn initialiser(&mut self) -> Parsed<Init> {
        let first = self.token().span;
        if self.eat("*") {
            return Ok(Init::Any(first));
        }
        if !self.eat("{") {
            return self.expression().map(Init::Value);
        }
        let mut cells = vec![self.expression()?];
        while self.eat(",") {
            cells.push(self.expression()?);
        }
        self.expect("}")?;
        Ok(Init::Cells(cells, self.since(first)))
    }

    pub(super) fn range(&mut self) -> Parsed<Range> {
        let first = self.token().span;
        let low = self.expression()?;
        if self.at(".") {
            let message = format!("expected `..=`, found {}", self.found());
            let diagnostic = Diagnostic::error(self.here(), message)
                .help("a range is written `low..=high`, both ends included");
            return Err(self.error(diagnostic));
        }
        self.expect("..=")?;
        let high = self.expression()?;
        let span = self.since(first);
        Ok(Range { low, high, span })
    }
}

/// The keyword that `word` may be a misspelling of; of two that are as near, the one that it
/// begins.
pub(super) fn nearest_keyword(word: &str, among: &[&str]) -> Option<&'static str> {
    let distance = |keyword: &str| strsim::damerau_levenshtein(word, keyword);
    let candidates = KEYWORDS.iter().filter(|keyword| among.contains(keyword));
    let nearest =
        candidates.min_by_key(|keyword| (distance(keyword), !keyword.starts_with(word)))?;
    let near = distance(nearest) <= 1 || (distance(nearest) == 2 && nearest.len() >= 5);
    near.then_some(*nearest)
}
