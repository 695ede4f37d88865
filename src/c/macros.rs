//! Macros, as far as it takes to know which tokens an invocation becomes.
//!
//! The preprocessor says what is defined where. Expanding an invocation again tells where its
//! tokens end in what the preprocessor has printed; what is expected is compared with what is
//! there, so that a difference is noticed. The algorithm is Prosser's: a token remembers the
//! macros that it came from and that must not be expanded in it again.

use super::tokens::{Token, tokens};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

/// The macros that are defined at some place.
#[derive(Debug, Default)]
pub struct Macros {
    table: HashMap<String, Macro>,
}

/// A token as it should be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    Word(Rc<str>),
    /// Some string: an argument in quotes.
    String,
    /// Some token: the number of a line, the name of a file.
    Any,
}

/// An invocation and what becomes of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The number of tokens that it is made of.
    pub invocation: usize,
    pub tokens: Vec<Pattern>,
}

/// Invocations within one another, and the arguments of one, are followed this far.
const DEEPEST: usize = 64;

#[derive(Debug)]
struct Macro {
    /// The names of the parameters of a macro that is invoked like a function.
    parameters: Option<Vec<String>>,
    /// Whether the last parameter takes all further arguments.
    variadic: bool,
    body: Vec<Rc<str>>,
}

/// A token that may have to be expanded.
#[derive(Debug, Clone)]
struct Item {
    pattern: Pattern,
    /// The macros that are not expanded in it.
    hidden: Rc<BTreeSet<Rc<str>>>,
}

impl Pattern {
    /// Whether a printed token is this one.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Word(word) => **word == *text,
            Pattern::String => text.ends_with('"'),
            Pattern::Any => true,
        }
    }
}

impl Macros {
    /// Takes a directive into account if it is `#define` or `#undef`; `tokens` are those
    /// behind the `#`.
    pub fn read(&mut self, tokens: &[Token]) {
        let (Some(directive), Some(name)) = (tokens.first(), tokens.get(1)) else {
            return;
        };
        match &*directive.text {
            "define" => {
                let rest = &tokens[2..];
                let like_function = rest
                    .first()
                    .is_some_and(|next| next.text == "(" && next.span.start == name.span.end);
                let defined = match like_function {
                    true => Macro::like_function(rest),
                    false => Macro {
                        parameters: None,
                        variadic: false,
                        body: body(rest),
                    },
                };
                self.table.insert(name.text.to_string(), defined);
            }
            "undef" => {
                self.table.remove(&*name.text);
            }
            _ => {}
        }
    }

    /// What becomes of the invocation that `tokens` begin with, if they begin with one. `fuel`
    /// is the number of tokens that may be looked at.
    pub fn expand(&self, tokens: &[Token], fuel: &mut usize) -> Option<Expansion> {
        let first = tokens.first()?;
        let dynamic = dynamic(&first.text);
        if let Some(pattern) = dynamic {
            return Some(Expansion {
                invocation: 1,
                tokens: vec![pattern],
            });
        }
        if first.text == "_Pragma" {
            let closing = tokens.iter().take(4).position(|token| token.text == ")");
            return Some(Expansion {
                invocation: closing.map_or(1, |closing| closing + 1),
                tokens: Vec::new(),
            });
        }
        let found = self.table.get(&*first.text)?;
        let opens = tokens.get(1).is_some_and(|next| next.text == "(");
        if found.parameters.is_some() && !opens {
            return None;
        }
        let mut run = Run {
            macros: self,
            rest: &tokens[1..],
            fuel,
        };
        let item = Item {
            pattern: Pattern::Word(first.text.as_ref().into()),
            hidden: Rc::default(),
        };
        let expanded = run.expand(VecDeque::from([item]), true, 0);
        let left = run.rest.len();
        Some(Expansion {
            invocation: tokens.len() - left,
            tokens: expanded
                .unwrap_or_default()
                .into_iter()
                .map(|item| item.pattern)
                .collect(),
        })
    }
}

impl Macro {
    /// A macro with parameters; `rest` begins with the opening parenthesis.
    fn like_function(rest: &[Token]) -> Macro {
        let closing = rest.iter().position(|token| token.text == ")");
        let closing = closing.unwrap_or(rest.len() - 1);
        let words: Vec<&str> = rest[1..closing.max(1)].iter().map(|t| &*t.text).collect();
        let variadic = words.last() == Some(&"...");
        let mut parameters: Vec<String> = Vec::new();
        for (index, word) in words.iter().enumerate() {
            match *word {
                "," => {}
                // A name may stand before the dots.
                "..." if index > 0 && words[index - 1] != "," => {}
                "..." => parameters.push("__VA_ARGS__".to_string()),
                name => parameters.push(name.to_string()),
            }
        }
        Macro {
            parameters: Some(parameters),
            variadic,
            body: body(&rest[closing + 1..]),
        }
    }

    /// The number of the parameter with this name.
    fn parameter(&self, word: &str) -> Option<usize> {
        let names = self.parameters.as_ref()?;
        names.iter().position(|name| name == word)
    }
}

fn body(tokens: &[Token]) -> Vec<Rc<str>> {
    tokens
        .iter()
        .map(|token| token.text.as_ref().into())
        .collect()
}

/// What stands for a macro that the preprocessor makes up.
fn dynamic(name: &str) -> Option<Pattern> {
    match name {
        "__FILE__" | "__BASE_FILE__" | "__FILE_NAME__" | "__DATE__" | "__TIME__"
        | "__TIMESTAMP__" => Some(Pattern::String),
        "__LINE__" | "__COUNTER__" | "__INCLUDE_LEVEL__" => Some(Pattern::Any),
        _ => None,
    }
}

/// The expansion of one invocation.
struct Run<'m, 't, 's> {
    macros: &'m Macros,
    /// The tokens behind what has been read.
    rest: &'t [Token<'s>],
    fuel: &'m mut usize,
}

impl Run<'_, '_, '_> {
    /// Expands all that can be expanded; nothing if it takes too much. `open` says whether an
    /// invocation may go on in the text behind.
    fn expand(&mut self, mut input: VecDeque<Item>, open: bool, depth: usize) -> Option<Vec<Item>> {
        let mut out = Vec::new();
        while let Some(item) = input.pop_front() {
            *self.fuel = self.fuel.checked_sub(1)?;
            let Pattern::Word(word) = &item.pattern else {
                out.push(item);
                continue;
            };
            if let Some(pattern) = dynamic(word) {
                out.push(Item { pattern, ..item });
                continue;
            }
            let found = self.macros.table.get(&**word);
            let Some(found) = found.filter(|_| !item.hidden.contains(word)) else {
                out.push(item);
                continue;
            };
            let (arguments, mut hidden) = match &found.parameters {
                None => (Vec::new(), (*item.hidden).clone()),
                Some(_) if depth >= DEEPEST => return None,
                Some(_) => {
                    let Some((arguments, closing)) = self.arguments(&mut input, open)? else {
                        out.push(item);
                        continue;
                    };
                    (arguments, &*item.hidden & &*closing.hidden)
                }
            };
            hidden.insert(word.clone());
            let replaced = self.substitute(found, arguments, &hidden, depth)?;
            *self.fuel = self.fuel.checked_sub(replaced.len())?;
            for item in replaced.into_iter().rev() {
                input.push_front(item);
            }
        }
        Some(out)
    }

    /// The arguments of an invocation and the parenthesis that closes it, if there are any.
    fn arguments(
        &mut self,
        input: &mut VecDeque<Item>,
        open: bool,
    ) -> Option<Option<(Vec<Vec<Item>>, Item)>> {
        let opening = Pattern::Word("(".into());
        let opens = match input.front() {
            Some(next) => next.pattern == opening,
            None => open && self.rest.first().is_some_and(|next| next.text == "("),
        };
        if !opens {
            return Some(None);
        }
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            *self.fuel = self.fuel.checked_sub(1)?;
            let item = match input.pop_front() {
                Some(item) => item,
                None if open => {
                    let (next, rest) = self.rest.split_first()?;
                    self.rest = rest;
                    Item {
                        pattern: Pattern::Word(next.text.as_ref().into()),
                        hidden: Rc::default(),
                    }
                }
                None => return None,
            };
            let word = match &item.pattern {
                Pattern::Word(word) => &**word,
                Pattern::String | Pattern::Any => "",
            };
            match word {
                "(" if depth == 0 => {
                    depth = 1;
                    continue;
                }
                "(" => depth += 1,
                ")" if depth == 1 => return Some(Some((arguments, item))),
                ")" => depth -= 1,
                "," if depth == 1 => {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            arguments.last_mut()?.push(item);
        }
    }

    /// The body of a macro with its arguments in place.
    fn substitute(
        &mut self,
        found: &Macro,
        mut arguments: Vec<Vec<Item>>,
        hidden: &BTreeSet<Rc<str>>,
        depth: usize,
    ) -> Option<Vec<Item>> {
        let count = found.parameters.as_ref().map_or(0, Vec::len);
        if found.variadic && arguments.len() > count {
            let further = arguments.split_off(count);
            let last = arguments.last_mut()?;
            for argument in further {
                last.push(Item::word(","));
                last.extend(argument);
            }
        }
        arguments.resize(count, Vec::new());
        let mut out: Vec<Item> = Vec::new();
        // Whether the next token is pasted to the last one, and whether that is empty.
        let (mut pastes, mut nothing_left) = (false, false);
        let body = &found.body;
        let mut at = 0;
        while let Some(word) = body.get(at) {
            at += 1;
            if &**word == "##" && at > 1 {
                pastes = true;
                continue;
            }
            let next = |at: usize| body.get(at).map_or("", |word| &**word);
            let parameter = found.parameter(word);
            let quoted = found.parameters.is_some() && &**word == "#";
            let quoted = quoted.then(|| found.parameter(next(at))).flatten();
            let before_paste = next(at) == "##";
            let new = match (parameter, quoted) {
                (_, Some(_)) => {
                    at += 1;
                    vec![Item {
                        pattern: Pattern::String,
                        hidden: Rc::default(),
                    }]
                }
                (Some(index), None) if pastes || before_paste => arguments[index].clone(),
                (Some(index), None) => {
                    let argument = arguments[index].clone();
                    self.expand(argument.into(), false, depth + 1)?
                }
                (None, None) => vec![Item::word(word)],
            };
            let comma = |item: &Item| item.pattern == Pattern::Word(",".into());
            let variadic = found.variadic && parameter == Some(count - 1);
            if std::mem::take(&mut pastes) && !nothing_left {
                if variadic && out.last().is_some_and(comma) {
                    // The comma before further arguments goes where there are none.
                    if new.is_empty() {
                        out.pop();
                    }
                    out.extend(new);
                } else {
                    let mut new = new.into_iter().peekable();
                    if let (Some(right), Some(left)) = (new.peek(), out.last_mut())
                        && let Some(pasted) = left.pasted(right)
                    {
                        *left = pasted;
                        new.next();
                    }
                    out.extend(new);
                }
            } else {
                nothing_left = new.is_empty();
                out.extend(new);
            }
        }
        let closed = |item: Item| Item {
            hidden: Rc::new(&*item.hidden | hidden),
            ..item
        };
        Some(out.into_iter().map(closed).collect())
    }
}

impl Item {
    fn word(word: &str) -> Item {
        Item {
            pattern: Pattern::Word(word.into()),
            hidden: Rc::default(),
        }
    }

    /// The one token that two make, if they make one.
    fn pasted(&self, right: &Item) -> Option<Item> {
        let pattern = match (&self.pattern, &right.pattern) {
            (Pattern::Word(left), Pattern::Word(right)) => {
                let word = format!("{left}{right}");
                Pattern::Word((tokens(&word).len() == 1).then_some(word)?.into())
            }
            _ => Pattern::Any,
        };
        Some(Item {
            pattern,
            hidden: Rc::new(&*self.hidden & &*right.hidden),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the last line of a text becomes, after the directives before it.
    fn expanded(text: &str) -> String {
        let mut macros = Macros::default();
        let (directives, line) = text.rsplit_once('\n').expect("there are two lines");
        for directive in directives.lines() {
            macros.read(&tokens(directive)[1..]);
        }
        let tokens = tokens(line);
        let mut words = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            match macros.expand(&tokens[at..], &mut 10_000) {
                Some(expansion) => {
                    at += expansion.invocation;
                    words.extend(expansion.tokens.iter().map(|pattern| match pattern {
                        Pattern::Word(word) => word.to_string(),
                        Pattern::String => "\"…\"".to_string(),
                        Pattern::Any => "?".to_string(),
                    }));
                }
                None => {
                    words.push(tokens[at].text.to_string());
                    at += 1;
                }
            }
        }
        words.join(" ")
    }

    #[test]
    fn expansions() {
        let check = |text: &str, expected: &str| assert_eq!(expanded(text), expected, "{text}");
        check("#define N 3\nN + M", "3 + M");
        check("#define E\nE x E E", "x");
        check("#define F(a,b) a-b\nF (1, (2,3)) F;", "1 - ( 2 , 3 ) F ;");
        check(
            "#define F(a) [a]\nF(F(1)) F() F(F)(2)",
            "[ [ 1 ] ] [ ] [ F ] ( 2 )",
        );
        check("#define x x + y\n#define y x\nx y", "x + x x + y");
        check(
            "#define C(a,b) a##b\n#define xy 1\nC(x,y) C(,y) C(x,) C(,) C(1,2)",
            "1 y x 12",
        );
        check("#define S(a) #a a\nS(1 2)", "\"…\" 1 2");
        check(
            "#define V(f,...) f(f, __VA_ARGS__)\nV(g,1,2)",
            "g ( g , 1 , 2 )",
        );
        check(
            "#define V(f,a...) f(1, ##a)\nV(g) V(g,) V(g,2,3)",
            "g ( 1 ) g ( 1 ) g ( 1 , 2 , 3 )",
        );
        check("#define G F\n#define F(a) <a>\nG (1) G", "< 1 > F");
        check("#define F() 1\nF() F( )", "1 1");
        check("#define N 1\n#undef N\nN __LINE__ __FILE__", "N ? \"…\"");
        check("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2 * 9 * g");
        check("#define N 1\n_Pragma(\"x\") N", "1");
        check("#define P(a) a##1\nP(f(2))", "f ( 2 ) 1");
        check("#define F(a) a\nF(1", "");
    }

    #[test]
    fn expansions_end() {
        let mut text: String = "#define A0 x\n".to_string();
        for index in 1..60 {
            let before = index - 1;
            text += &format!("#define A{index} A{before} A{before}\n");
        }
        assert_eq!(expanded(&format!("{text}A59")), "");
        let nested = format!("#define F(a) a\n{}1{}", "F(".repeat(500), ")".repeat(500));
        assert_eq!(expanded(&nested), "");
    }
}
