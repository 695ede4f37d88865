//! The state graph, for labelling.
//!
//! Only what labels depend on is kept: the transitions between states from which something
//! wrong can be reached, each with the tag of its step. All wrong states are one node, and
//! nothing leads out of it: whoever keeps it from being reached need not know what would
//! come after.

use super::context::Context;
use super::layout::State;
use super::level::CHUNK;
use super::pool::{PARALLEL, Workers};
use super::search::Unfinished;
use crate::ids::ids;
use crate::limits::{Pace, StopReason};
use std::sync::Mutex;

ids!(
    /// A node of a graph: a state, or all states in which something is wrong.
    NodeId,
    /// What the tagger of a search made of a step.
    Tag,
);

/// A graph of states, which are numbered.
#[derive(Debug)]
pub struct Graph {
    /// Where the edges of each node begin, and the end of the last.
    first: Vec<u64>,
    edges: Vec<Edge>,
    initial: Vec<NodeId>,
}

/// A transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub to: NodeId,
    pub tag: Tag,
}

/// Chunks of states whose edges are collected at a time.
const BATCH: usize = 256;

impl Graph {
    /// The node that stands for every state in which something is wrong.
    pub const ERROR: NodeId = NodeId(0);

    pub fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    pub fn transitions(&self) -> usize {
        self.edges.len()
    }

    pub fn edges(&self, node: NodeId) -> &[Edge] {
        let at = node.index();
        &self.edges[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// The nodes of initial states.
    pub fn initial(&self) -> &[NodeId] {
        &self.initial
    }

    /// The memory that a graph takes.
    pub fn bytes(nodes: u64, transitions: u64) -> u64 {
        (nodes + 2) * size_of::<u64>() as u64 + transitions * size_of::<Edge>() as u64
    }

    /// Keeps the edges between nodes from which an error can be reached, and no others.
    fn restrict(&mut self, context: &Context) -> Result<(), StopReason> {
        let mut pace = Pace::default();
        let mut leads = vec![false; self.nodes()];
        leads[Self::ERROR.index()] = true;
        let mut changed = true;
        while changed {
            changed = false;
            for node in (0..self.nodes()).rev() {
                if leads[node] {
                    continue;
                }
                let edges = self.edges(NodeId(node as u32));
                if edges.iter().any(|edge| leads[edge.to.index()]) {
                    leads[node] = true;
                    changed = true;
                }
                context.go_on(&mut pace, 1 + edges.len())?;
            }
        }
        let mut kept = 0;
        let mut begin = 0;
        for node in 0..self.nodes() {
            let end = self.first[node + 1] as usize;
            for at in begin..end {
                if leads[self.edges[at].to.index()] {
                    self.edges[kept] = self.edges[at];
                    kept += 1;
                }
            }
            context.go_on(&mut pace, 1 + end - begin)?;
            begin = end;
            self.first[node + 1] = kept as u64;
        }
        self.edges.truncate(kept);
        self.edges.shrink_to_fit();
        Ok(())
    }
}

/// The states of a finished search, numbered.
pub(super) struct Numbered<'a, const N: usize> {
    /// All states in which nothing is wrong; they become the nodes from 1, in this order.
    pub chunks: Vec<&'a [State<N>]>,
    pub initial: Vec<NodeId>,
    /// How many transitions there are at most.
    pub transitions: u64,
}

/// Builds the graph of a finished search. `expand` finds the successors of a state with
/// their tags, `node` the number of a state.
pub(super) fn build<W: Send, const N: usize>(
    context: &Context,
    workers: &mut Workers<W>,
    states: Numbered<N>,
    expand: impl Fn(&mut W, &State<N>, &mut Vec<(State<N>, Tag)>) -> Result<(), Unfinished> + Sync,
    node: impl Fn(&mut W, &State<N>) -> NodeId + Sync,
) -> Result<Graph, StopReason> {
    let count: usize = states.chunks.iter().map(|chunk| chunk.len()).sum();
    let mut graph = Graph {
        first: Vec::with_capacity(count + 2),
        edges: Vec::with_capacity(states.transitions as usize),
        initial: states.initial,
    };
    graph.first.extend([0, 0]);
    for batch in states.chunks.chunks(BATCH) {
        let found = Mutex::new(Vec::new());
        let worth_while = batch.len() * CHUNK > PARALLEL;
        workers.share(batch, worth_while, |worker, at, chunk| {
            let mut pace = Pace::default();
            let mut successors = Vec::new();
            let (mut counts, mut edges) = (Vec::new(), Vec::new());
            for state in *chunk {
                match expand(worker, state, &mut successors) {
                    Ok(()) => {}
                    Err(Unfinished::Stop(reason)) => return Err(reason),
                    Err(Unfinished::Overflow) => unreachable!("the search has met every component"),
                }
                let begin = edges.len();
                let others = successors.iter().filter(|(next, _)| next != state);
                edges.extend(others.map(|&(ref next, tag)| Edge {
                    to: node(worker, next),
                    tag,
                }));
                counts.push((edges.len() - begin) as u64);
                context.go_on(&mut pace, 1 + successors.len())?;
            }
            let mut found = found.lock().expect("no thread panics here");
            found.push((at, counts, edges));
            context.check()
        })?;
        let mut found = found.into_inner().expect("no thread panics here");
        found.sort_unstable_by_key(|(at, ..)| *at);
        for (_, counts, edges) in found {
            let mut end = graph.edges.len() as u64;
            graph.first.extend(counts.into_iter().map(|count| {
                end += count;
                end
            }));
            graph.edges.extend(edges);
        }
    }
    graph.restrict(context)?;
    Ok(graph)
}
