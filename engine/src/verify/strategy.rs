//! Which engine is asked, and in which order. New engines are tried here.

use super::turns::{Paused, Turn};
use super::{
    Answer, Attempt, Counterexample, Evidence, Inconclusive, SearchKind, Verdict, VerifyOptions,
    logs, search,
};
use crate::concretise::{Concrete, concretise};
use crate::limits::{Monitor, StopReason};
use crate::memory::{Abstraction, Model, Semantics};
use crate::program::Program;
use crate::space::Standstill;

/// How an answer is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// One search under the abstraction that was given.
    Fixed,
    /// Searches under the abstraction that was given and finer ones until the answer is certain:
    /// a proof, a violation of the exact model, or a limit. FD goes on with larger k, view
    /// logs are widened later.
    Refine,
    /// The same with several engines in turn: FD with growing k, view logs, and sequential
    /// consistency, where a violation is one under every model.
    Portfolio,
}

/// The largest k that refinement tries.
pub const MOST_K: usize = 8;

/// The widening that view logs begin with. The next smaller one, 1, forgets all order.
pub const FIRST_WIDENING: usize = 2;

/// What view logs may take when FD has nothing more to say: about a minute.
const MOST_LOG_WORK: u64 = 1 << 29;

/// Looks for an answer by the strategy of the options.
pub(super) fn answer(program: &Program, options: &VerifyOptions, monitor: &Monitor) -> Answer {
    let asked = Portfolio::new(program, options, monitor);
    match (options.strategy, options.semantics.abstraction) {
        // View logs say nothing of standstills, and every update of theirs waits.
        (_, Abstraction::Logs { .. })
            if options.standstill != Standstill::Ignored || program.keeps_books() =>
        {
            asked.refined()
        }
        (strategy, Abstraction::Logs { widening }) => asked.logs_alone(strategy, widening),
        (Strategy::Fixed, _) => {
            let mut paused = Paused::default();
            in_turns(|turn| search::answer(program, options, monitor, turn, &mut paused))
        }
        (Strategy::Refine | Strategy::Portfolio, _) => asked.refined(),
    }
}

/// Asks with more and more to spend, until there is an answer.
fn in_turns(mut ask: impl FnMut(Turn) -> Option<Answer>) -> Answer {
    let mut turn = Turn::FIRST;
    loop {
        if let Some(answer) = ask(turn) {
            return answer;
        }
        turn = turn.next();
    }
}

/// Several engines for one question. Each gets its turn, with a budget that grows from turn to
/// turn, until one is certain. Budgets are numbers of states and of steps, so which of them
/// answers depends neither on the machine nor on the number of threads.
struct Portfolio<'a> {
    program: &'a Program,
    options: &'a VerifyOptions,
    monitor: &'a Monitor,
    /// The smallest k that is not known to be too coarse.
    k: usize,
    /// What FD ended with, if that is not certain: there is no larger k, or no more room.
    given_up: Option<Answer>,
    /// View logs can answer.
    logs: bool,
    widening: usize,
    /// It is not known whether the program is correct under sequential consistency.
    ask_sc: bool,
    tried: Vec<Attempt>,
    /// Searches that wait for their next turn.
    paused: Paused<'a>,
}

impl<'a> Portfolio<'a> {
    fn new(
        program: &'a Program,
        options: &'a VerifyOptions,
        monitor: &'a Monitor,
    ) -> Portfolio<'a> {
        let relaxed = options.semantics.model != Model::Sc;
        let several = relaxed && options.strategy == Strategy::Portfolio;
        // They say nothing of standstills, and do not count states.
        let only_verdict = !options.full && options.standstill == Standstill::Ignored;
        Portfolio {
            program,
            options,
            monitor,
            k: options.semantics.abstraction.k().unwrap_or(1),
            given_up: None,
            logs: several
                && only_verdict
                && options.search == SearchKind::Auto
                && !program.keeps_books(),
            widening: FIRST_WIDENING,
            ask_sc: several && !options.correct_under_sc,
            tried: Vec::new(),
            paused: Paused::default(),
        }
    }

    /// View logs and nothing else.
    fn logs_alone(mut self, strategy: Strategy, widening: usize) -> Answer {
        self.widening = widening;
        loop {
            let answer = self.logs_within(u64::MAX);
            let answer = answer.expect("there is no limit to what it may take");
            if strategy == Strategy::Fixed || !is_spurious(&answer) {
                return answer;
            }
            self.widening += 1;
        }
    }

    /// All engines in turn.
    fn refined(mut self) -> Answer {
        let mut turn = Turn::FIRST;
        let answer = loop {
            let certain = (self.heads(turn))
                .or_else(|| self.view_logs(turn))
                .or_else(|| self.sequential(turn));
            if let Some(answer) = certain {
                break answer;
            }
            let useful = self.logs && turn.log_work() < MOST_LOG_WORK;
            if !useful && let Some(answer) = self.given_up.take() {
                break answer;
            }
            turn = turn.next();
        };
        Answer {
            tried: self.tried,
            ..answer
        }
    }

    /// FD with the next k, and with the one behind it: the space of a larger k may be the
    /// smaller one. k is raised while counterexamples turn out not to exist on the exact model.
    fn heads(&mut self, turn: Turn) -> Option<Answer> {
        if self.given_up.is_some() {
            return None;
        }
        // All k are the same where nothing is abstracted.
        let further = usize::from(self.options.semantics.model != Model::Sc);
        let begin = self.k;
        let mut k = begin;
        loop {
            // Where nobody else can answer, all that are too coarse are gone through at once.
            let first = if self.logs { begin } else { self.k };
            if k > first + further || k > MOST_K.max(begin) {
                return None;
            }
            let options = self.with(Abstraction::Fd { k });
            let next = self.with(Abstraction::Fd { k: k + 1 }).semantics;
            let paused = &mut self.paused;
            paused.next = (k < first + further && k < MOST_K).then_some(next);
            let answer = search::answer(self.program, &options, self.monitor, turn, paused);
            if let Some(answer) = answer {
                if is_spurious(&answer) && k < MOST_K {
                    let states = answer.statistics.states;
                    self.tried.push(Attempt { k, states });
                    self.k = k + 1;
                } else if self.logs && is_open(&answer) {
                    self.given_up = Some(answer);
                    return None;
                } else {
                    return Some(answer);
                }
            }
            k += 1;
        }
    }

    /// View logs, widened later and later.
    fn view_logs(&mut self, turn: Turn) -> Option<Answer> {
        while self.logs {
            let answer = self.logs_within(turn.log_work())?;
            if is_spurious(&answer) {
                self.widening += 1;
            } else if is_open(&answer) {
                self.logs = false;
            } else {
                return Some(answer);
            }
        }
        None
    }

    fn logs_within(&self, work: u64) -> Option<Answer> {
        let options = self.with(Abstraction::Logs {
            widening: self.widening,
        });
        logs::answer(self.program, &options, self.monitor, self.widening, work)
    }

    /// A violation under sequential consistency is one everywhere, and often the one that is
    /// found first.
    fn sequential(&mut self, turn: Turn) -> Option<Answer> {
        if !self.ask_sc || turn == Turn::FIRST {
            return None;
        }
        let mut options = self.with(self.options.semantics.abstraction);
        options.semantics.model = Model::Sc;
        let paused = &mut self.paused;
        let answer = search::answer(self.program, &options, self.monitor, turn, paused)?;
        self.ask_sc = answer.verdict == Verdict::Violated;
        let trace = answer.counterexample()?.trace.as_ref()?;
        let exact = self.options.semantics.exact().stepper(self.program);
        let limits = self.options.limits.with_grace();
        let standstill = self.options.standstill;
        match concretise(&exact, trace, standstill, &limits, self.monitor) {
            Concrete::Real(violation, trace) => Some(Answer {
                evidence: Evidence::Counterexample(Counterexample {
                    violation,
                    trace: Some(trace),
                    spurious: Some(false),
                }),
                ..answer
            }),
            Concrete::Spurious | Concrete::Unknown => {
                self.ask_sc = false;
                None
            }
        }
    }

    fn with(&self, abstraction: Abstraction) -> VerifyOptions {
        VerifyOptions {
            semantics: Semantics {
                abstraction,
                ..self.options.semantics
            },
            ..self.options.clone()
        }
    }
}

/// The counterexample does not exist on the exact model.
fn is_spurious(answer: &Answer) -> bool {
    answer.verdict == Verdict::Inconclusive(Inconclusive::Spurious)
}

/// Another engine may know more.
fn is_open(answer: &Answer) -> bool {
    use StopReason::{MaxMemory, MaxStates, TooWide};
    match answer.verdict {
        Verdict::Correct | Verdict::Violated => false,
        Verdict::Inconclusive(Inconclusive::Limit(reason)) => {
            matches!(reason, MaxMemory | MaxStates | TooWide)
        }
        Verdict::Inconclusive(_) => true,
    }
}
