//! What the comments at the top of a program say about it; `algorithms/README.md` has the grammar.

use fencesmith::memory::{Abstraction, Atomics, Model};

/// What is said about a program.
#[derive(Debug, Default)]
pub struct Header {
    pub name: String,
    /// What the tool is to answer.
    pub expected: Vec<Fact>,
    /// What a paper says instead.
    pub published: Vec<Fact>,
    pub mutants: Vec<Mutant>,
}

/// An answer and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    pub line: usize,
    pub question: Question,
    pub answer: Answer,
    /// `computed`, or a paper and the place in it.
    pub source: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Question {
    /// Is the program correct as it stands?
    Verdict(Model),
    /// How many fences does it need?
    Fences(Model),
    /// How many, so that it is never stuck either?
    Stuck(Model),
    /// What does one abstraction say?
    Verify(Model, Abstraction, Atomics),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    Correct,
    Violated,
    /// The abstraction reports what does not exist on the model.
    Spurious,
    /// Wrong under SC: no fence can mend it.
    Incorrect,
    /// A cheapest placement, in positions in the text.
    Cost(u64),
    /// A placement that can be proved, while a cheaper one may exist.
    AtMost(u64),
}

/// A change after which the property fails.
#[derive(Debug, PartialEq)]
pub struct Mutant {
    pub line: usize,
    pub from: String,
    pub to: String,
}

/// A line that is wrong, and why.
#[derive(Debug, PartialEq)]
pub struct Problem(pub usize, pub String);

impl Header {
    /// What is expected, where the header is complete.
    pub fn fact(&self, question: Question) -> &Fact {
        find(&self.expected, question).expect("the header is complete")
    }
}

pub fn find(facts: &[Fact], question: Question) -> Option<&Fact> {
    facts.iter().find(|fact| fact.question == question)
}

/// Reads the comments at the top. Every line has to be understood, and nothing may be
/// missing or contradict the rest.
pub fn header(text: &str) -> Result<Header, Vec<Problem>> {
    let mut header = Header::default();
    let mut problems = Vec::new();
    let mut words = Vec::new();
    let end = text.lines().take_while(|line| line.starts_with("//"));
    let end = end.count();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let read = match line.strip_prefix("// ") {
            Some(line) if index < end => read(&mut header, &mut words, number, line),
            _ if index < end => Err("a comment that is no fact".to_string()),
            Some(line) if is_fact(line) => Err("a fact below the header".to_string()),
            _ => Ok(()),
        };
        problems.extend(read.err().map(|what| Problem(number, what)));
    }
    if problems.is_empty() {
        problems = contradictions(&header, &words);
    }
    match problems.is_empty() {
        true => Ok(header),
        false => Err(problems),
    }
}

fn is_fact(line: &str) -> bool {
    let key = line.split([' ', ':']).next();
    matches!(key, Some("expect" | "published" | "mutant"))
}

fn read(
    header: &mut Header,
    words: &mut Vec<String>,
    line: usize,
    text: &str,
) -> Result<(), String> {
    let (key, rest) = text.split_once(": ").ok_or("no 'KEY: TEXT'")?;
    let mut keys = key.split(' ');
    match keys.next().unwrap_or_default() {
        name if line == 1 && key == name => header.name = name.to_string(),
        _ if line == 1 => return Err("no name".to_string()),
        word @ ("from" | "property" | "note") if key == word => {
            if word != "note" && words.iter().any(|old| old == word) {
                return Err(format!("a second '{word}'"));
            }
            words.push(word.to_string());
        }
        "mutant" if key == "mutant" => header.mutants.push(mutant(line, rest)?),
        word @ ("expect" | "published") => {
            let (fact, stuck, why) = facts(line, &keys.collect::<Vec<_>>(), rest)?;
            let facts = match word {
                "expect" => &mut header.expected,
                _ if fact.source == "computed" => return Err("published by nobody".to_string()),
                _ if why.is_empty() => return Err("it differs, but not why".to_string()),
                _ => &mut header.published,
            };
            if find(facts, fact.question).is_some() {
                return Err("said twice".to_string());
            }
            facts.push(fact);
            facts.extend(stuck);
        }
        word => return Err(format!("unknown fact '{word}'")),
    }
    Ok(())
}

fn mutant(line: usize, text: &str) -> Result<Mutant, String> {
    let quoted = |text: &str| {
        let text = text.strip_prefix('"')?.strip_suffix('"')?;
        (!text.is_empty()).then(|| text.to_string())
    };
    let (from, to) = match text.split_once(' ') {
        Some(("delete", what)) => (quoted(what), Some(String::new())),
        Some(("replace", change)) => match change.split_once("\" by \"") {
            Some((from, to)) => (quoted(&format!("{from}\"")), quoted(&format!("\"{to}"))),
            None => (None, None),
        },
        _ => (None, None),
    };
    match (from, to) {
        (Some(from), Some(to)) => Ok(Mutant { line, from, to }),
        _ => Err("neither 'delete \"TEXT\"' nor 'replace \"TEXT\" by \"TEXT\"'".to_string()),
    }
}

/// A fact, what a cost becomes where the program may not get stuck, and why it is so.
fn facts<'a>(
    line: usize,
    about: &[&str],
    text: &'a str,
) -> Result<(Fact, Option<Fact>, &'a str), String> {
    let (answer, rest) = text.split_once(" (").ok_or("no '(SOURCE)'")?;
    let rest = rest.strip_suffix(')').ok_or("no ')' at the end")?;
    let (source, why) = rest.split_once("; ").unwrap_or((rest, ""));
    if source != "computed" && !is_paper(source) {
        return Err(format!(
            "the source '{source}' is neither 'computed' nor 'AUTHORS YEAR, PLACE'"
        ));
    }
    let (answer, stuck) = match answer.split_once(", stuck ") {
        Some((answer, stuck)) => (answer, Some(read_answer(stuck)?)),
        None => (answer, None),
    };
    let answer = read_answer(answer)?;
    // What is wrong without it is wrong with it.
    let stuck = stuck.or((answer == Answer::Incorrect).then_some(answer));
    let is_cost = matches!(
        answer,
        Answer::Cost(_) | Answer::AtMost(_) | Answer::Incorrect
    );
    let model = |name: &str| name.parse::<Model>();
    let question = match about {
        ["sc"] if is_cost => return Err("no fence has an effect under SC".to_string()),
        [name] if is_cost => Question::Fences(model(name)?),
        [name] => Question::Verdict(model(name)?),
        ["verify", name, abs] => {
            Question::Verify(model(name)?, read_abs(abs)?, Atomics::DrainPlace)
        }
        ["verify", name, abs, atomics] if *atomics == Atomics::DrainAll.to_string() => {
            Question::Verify(model(name)?, read_abs(abs)?, Atomics::DrainAll)
        }
        _ => return Err(format!("unknown question '{}'", about.join(" "))),
    };
    let fits = match question {
        Question::Verdict(_) => matches!(answer, Answer::Correct | Answer::Violated),
        Question::Fences(_) | Question::Stuck(_) => is_cost,
        Question::Verify(..) => !is_cost,
    };
    let stuck = match (stuck, question) {
        (None, _) => None,
        (Some(answer), Question::Fences(model)) => Some((Question::Stuck(model), answer)),
        (Some(_), _) => return Err("only costs say what getting stuck costs".to_string()),
    };
    if !fits {
        return Err(format!("{answer:?} is no answer to that"));
    }
    let source = source.to_string();
    let fact = Fact {
        line,
        question,
        answer,
        source,
    };
    let stuck = stuck.map(|(question, answer)| Fact {
        question,
        answer,
        ..fact.clone()
    });
    Ok((fact, stuck, why))
}

/// `AUTHORS YEAR, PLACE`.
fn is_paper(source: &str) -> bool {
    source
        .split(", ")
        .zip(source.split(", ").skip(1))
        .any(|(authors, place)| {
            let year = authors.rsplit(' ').next().unwrap_or_default();
            let is_year = year.len() == 4 && year.bytes().all(|digit| digit.is_ascii_digit());
            is_year && authors.len() > 5 && !place.is_empty()
        })
}

fn read_answer(text: &str) -> Result<Answer, String> {
    let number = |text: &str| text.parse().map_err(|_| format!("'{text}' is no number"));
    Ok(match text.split(' ').collect::<Vec<_>>()[..] {
        ["correct"] => Answer::Correct,
        ["violated"] => Answer::Violated,
        ["spurious"] => Answer::Spurious,
        ["incorrect"] => Answer::Incorrect,
        ["cost", cost] => Answer::Cost(number(cost)?),
        ["cost", "at", "most", cost] => Answer::AtMost(number(cost)?),
        _ => return Err(format!("unknown answer '{text}'")),
    })
}

/// View logs as they are tried first.
const LOGS: Abstraction = Abstraction::Logs {
    widening: fencesmith::verify::FIRST_WIDENING,
};

fn read_abs(text: &str) -> Result<Abstraction, String> {
    let unknown = || format!("unknown abstraction '{text}'");
    let k = || {
        text.get(2..)
            .and_then(|k| k.parse().ok())
            .ok_or_else(unknown)
    };
    match text.get(..2) {
        _ if text == "set" => Ok(Abstraction::Set),
        _ if text == "logs" => Ok(LOGS),
        Some("fd") => Ok(Abstraction::Fd { k: k()? }),
        Some("pd") => Ok(Abstraction::Pd { k: k()? }),
        _ => Err(unknown()),
    }
}

/// What is missing, and what cannot be true together.
fn contradictions(header: &Header, words: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut wrong = |line, what: String| problems.push(Problem(line, what));
    for word in ["from", "property"] {
        if !words.iter().any(|old| old == word) {
            wrong(1, format!("no '{word}'"));
        }
    }
    let verdict = |model| find(&header.expected, Question::Verdict(model));
    let is_correct = |model| verdict(model).is_some_and(|fact| fact.answer == Answer::Correct);
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        if verdict(model).is_none() {
            wrong(1, format!("no verdict under {model}"));
        }
    }
    // What a stricter model allows, a weaker one allows as well.
    for (weak, strict) in [(Model::Pso, Model::Tso), (Model::Tso, Model::Sc)] {
        if let (Some(fact), true, false) = (verdict(weak), is_correct(weak), is_correct(strict)) {
            wrong(
                fact.line,
                format!("correct under {weak} and not under {strict}"),
            );
        }
    }
    let fences = |model| find(&header.expected, Question::Fences(model));
    for model in [Model::Tso, Model::Pso] {
        let Some(fences) = fences(model) else {
            wrong(1, format!("no cost under {model}"));
            continue;
        };
        let fits = match fences.answer {
            Answer::Cost(0) => is_correct(model),
            Answer::Cost(_) => is_correct(Model::Sc) && !is_correct(model),
            Answer::AtMost(cost) => is_correct(Model::Sc) && cost > 0,
            _ => !is_correct(Model::Sc),
        };
        if !fits {
            wrong(fences.line, "the verdicts say otherwise".to_string());
        }
        if is_correct(model) {
            let lacking = proof(header, model, fences.answer);
            lacking
                .into_iter()
                .for_each(|what| wrong(fences.line, what));
        }
    }
    if let (Some(tso), Some(pso)) = (fences(Model::Tso), fences(Model::Pso))
        && let (Answer::Cost(less), Answer::Cost(more)) = (tso.answer, pso.answer)
        && less > more
    {
        wrong(tso.line, "costs more than under pso".to_string());
    }
    for model in [Model::Tso, Model::Pso] {
        let stuck = find(&header.expected, Question::Stuck(model));
        match (fences(model), stuck.map(|stuck| stuck.answer)) {
            (None, _) => {}
            (Some(fact), None) => wrong(fact.line, "no cost without getting stuck".to_string()),
            (Some(fact), Some(stuck)) => {
                let fits = match (fact.answer, stuck) {
                    // What is asked for besides can only make it dearer.
                    (Answer::Cost(less), Answer::Cost(more)) => less <= more,
                    (Answer::Incorrect, stuck) => stuck == Answer::Incorrect,
                    _ => true,
                };
                if !fits {
                    wrong(
                        fact.line,
                        "getting stuck costs less than nothing".to_string(),
                    );
                }
            }
        }
    }
    for fact in &header.published {
        match find(&header.expected, fact.question) {
            None => wrong(fact.line, "published, but not expected".to_string()),
            Some(own) if own.answer == fact.answer => {
                wrong(fact.line, "published, and the same".to_string());
            }
            Some(_) => (),
        }
    }
    if is_correct(Model::Sc) && header.mutants.is_empty() {
        wrong(
            1,
            "no mutant: nobody knows whether the property can fail".to_string(),
        );
    }
    problems
}

/// What is missing for a program that is correct under a model: FD at the smallest k that
/// proves it, and at the one before; or some k that does not, and view logs that do.
fn proof(header: &Header, model: Model, fences: Answer) -> Option<String> {
    let at = |k| Question::Verify(model, Abstraction::Fd { k }, Atomics::DrainPlace);
    let answers =
        |k, answer| find(&header.expected, at(k)).is_some_and(|fact| fact.answer == answer);
    let ks = 0..=fencesmith::verify::MOST_K;
    let logs = Question::Verify(model, LOGS, Atomics::DrainPlace);
    let by_logs = find(&header.expected, logs).is_some_and(|fact| fact.answer == Answer::Correct);
    let proved = ks.clone().find(|&k| answers(k, Answer::Correct));
    match (proved, fences) {
        (None, Answer::AtMost(_)) if ks.clone().any(|k| answers(k, Answer::Spurious)) => None,
        (None, Answer::AtMost(_)) => Some(format!("no k at which FD fails under {model}")),
        (None, _) if by_logs && ks.clone().any(|k| answers(k, Answer::Spurious)) => None,
        (None, _) => Some(format!("no k at which FD proves it under {model}")),
        (Some(_), Answer::AtMost(_)) => Some(format!("FD proves it under {model}")),
        (Some(0), _) => None,
        (Some(k), _) if answers(k - 1, Answer::Spurious) => None,
        (Some(k), _) => Some(format!("FD at k = {} may do under {model}", k - 1)),
    }
}
