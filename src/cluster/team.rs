//! The workers of all processes, as a timely dataflow.
//!
//! The dataflow has one input and one exchange, which brings messages to the workers they are
//! for. A round is an epoch: a worker that ends a round advances its input, and the round is over
//! when no message of it can be under way any more, which is what the probe says. A second dataflow
//! brings letters, which belong to no round and are there as soon as they have arrived.

use super::health::SharedHealth;
use crate::space::spread::{Lost, Peers};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::ProbeHandle;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::worker::Worker;

/// The longest wait before it is looked whether the run still stands.
const NAP: Duration = Duration::from_millis(20);

/// How long a worker waits that also has to look elsewhere.
const MOMENT: Duration = Duration::from_millis(1);

/// What travels between workers.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Message {
    from: u32,
    to: u32,
    /// It ends the round of its sender.
    report: bool,
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
}

/// What has arrived, by round.
#[derive(Default)]
struct Inbox {
    batches: BTreeMap<u64, VecDeque<(usize, Vec<u8>)>>,
    /// By worker.
    reports: BTreeMap<u64, Vec<Option<Vec<u8>>>>,
}

type Messages =
    timely::dataflow::operators::core::input::Handle<u64, CapacityContainerBuilder<Vec<Message>>>;

/// One worker, and the way to all others.
pub struct Team<'w> {
    worker: &'w mut Worker,
    messages: Messages,
    probe: ProbeHandle<u64>,
    inbox: Rc<RefCell<Inbox>>,
    letters: Messages,
    posted: u64,
    received: Rc<RefCell<VecDeque<Message>>>,
    /// The round that this worker is in.
    round: u64,
    /// The oldest round whose reports were not taken.
    oldest: u64,
    health: SharedHealth,
    /// Workers of each process.
    threads: usize,
}

impl<'w> Team<'w> {
    pub fn new(worker: &'w mut Worker, health: SharedHealth, threads: usize) -> Team<'w> {
        let inbox = Rc::new(RefCell::new(Inbox::default()));
        let (count, arriving) = (worker.peers(), inbox.clone());
        let (messages, probe) = worker.dataflow::<u64, _, _>(|scope| {
            let (messages, stream) = scope.new_input::<Vec<Message>>();
            let to_receiver = Exchange::new(|message: &Message| u64::from(message.to));
            let received = stream.unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(
                to_receiver,
                "Receive",
                move |_, _| {
                    move |input, _| {
                        input.for_each(|time, messages| {
                            let mut inbox = arriving.borrow_mut();
                            for message in messages.drain(..) {
                                inbox.add(*time.time(), message, count);
                            }
                        });
                    }
                },
            );
            let (probe, _) = received.probe();
            (messages, probe)
        });
        let received = Rc::new(RefCell::new(VecDeque::new()));
        let arriving = received.clone();
        let letters = worker.dataflow::<u64, _, _>(|scope| {
            let (letters, stream) = scope.new_input::<Vec<Message>>();
            let to_receiver = Exchange::new(|letter: &Message| u64::from(letter.to));
            stream.sink(to_receiver, "Letters", move |(input, _)| {
                input.for_each(|_, letters| arriving.borrow_mut().extend(letters.drain(..)));
            });
            letters
        });
        Team {
            worker,
            messages,
            probe,
            inbox,
            letters,
            posted: 0,
            received,
            round: 0,
            oldest: 0,
            health,
            threads,
        }
    }

    /// Sends something that belongs to no round.
    pub fn post(&mut self, to: usize, letter: Vec<u8>) {
        self.letters.send(Message {
            from: self.own() as u32,
            to: to as u32,
            report: false,
            bytes: letter,
        });
        // Only what belongs to an earlier time is sent at once.
        self.posted += 1;
        self.letters.advance_to(self.posted);
    }

    /// The next letter that has arrived, and who sent it.
    pub fn next_letter(&mut self) -> Option<(usize, Vec<u8>)> {
        let letter = self.received.borrow_mut().pop_front()?;
        Some((letter.from as usize, letter.bytes))
    }

    /// Lets messages move, and waits for a short while if there are none.
    pub fn linger(&mut self) -> Result<(), Lost> {
        self.worker.step_or_park(Some(MOMENT));
        self.stands()
    }

    fn stands(&self) -> Result<(), Lost> {
        match self.health.has_failed() {
            true => Err(Lost),
            false => Ok(()),
        }
    }

    /// A round without batches: what every worker says.
    pub fn round(&mut self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost> {
        self.end_round(own);
        loop {
            if let Some(reports) = self.take_reports() {
                return Ok(reports);
            }
            self.exchange(true)?;
        }
    }
}

impl Inbox {
    fn add(&mut self, round: u64, message: Message, workers: usize) {
        let from = message.from as usize;
        match message.report {
            false => {
                let batches = self.batches.entry(round).or_default();
                batches.push_back((from, message.bytes));
            }
            true => {
                let reports = self.reports.entry(round).or_insert(vec![None; workers]);
                if let Some(report) = reports.get_mut(from) {
                    *report = Some(message.bytes);
                }
            }
        }
    }
}

impl Peers for Team<'_> {
    fn own(&self) -> usize {
        self.worker.index()
    }

    fn count(&self) -> usize {
        self.worker.peers()
    }

    fn send(&mut self, to: usize, batch: Vec<u8>) {
        self.messages.send(Message {
            from: self.own() as u32,
            to: to as u32,
            report: false,
            bytes: batch,
        });
    }

    fn end_round(&mut self, report: Vec<u8>) {
        for to in 0..self.count() {
            self.messages.send(Message {
                from: self.own() as u32,
                to: to as u32,
                report: true,
                bytes: report.clone(),
            });
        }
        self.round += 1;
        self.messages.advance_to(self.round);
    }

    fn next_batch(&mut self) -> Option<(usize, Vec<u8>)> {
        let mut inbox = self.inbox.borrow_mut();
        let mut first = inbox.batches.first_entry()?;
        if *first.key() >= self.round {
            return None;
        }
        let batch = first.get_mut().pop_front();
        if first.get().is_empty() {
            first.remove();
        }
        batch
    }

    fn take_reports(&mut self) -> Option<Vec<Vec<u8>>> {
        let mut inbox = self.inbox.borrow_mut();
        let under_way = self.probe.less_equal(&self.oldest);
        let first = inbox.batches.first_key_value();
        if under_way || first.is_some_and(|(round, _)| *round <= self.oldest) {
            return None;
        }
        let reports = inbox.reports.remove(&self.oldest)?;
        let reports = reports.into_iter().collect::<Option<Vec<_>>>();
        self.oldest += 1;
        reports
    }

    fn exchange(&mut self, idle: bool) -> Result<(), Lost> {
        match idle {
            true => self.worker.step_or_park(Some(NAP)),
            false => self.worker.step(),
        };
        self.stands()
    }

    fn reject(&mut self, from: usize) -> Lost {
        let peer = self.health.name_of(from / self.threads);
        self.health.fail(format!("{peer} sent a malformed message"));
        Lost
    }
}
