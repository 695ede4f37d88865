//! Zones by number, with what is needed to compare them quickly.
//!
//! Beside its facts, a zone is a set of bits: one for each pair of nodes and each threshold, set
//! if the zone says that the difference of the nodes is at most the threshold. One zone covers
//! another if and only if its bits are among those of the other.

use super::graph::{Interned, NONE};
use super::matrix::{Bound, Fact, Node};
use super::zone::{Thresholds, Zone};
use ahash::AHashMap;

/// Zones that were met, and the zones after moves.
pub struct Zones {
    zones: Interned<Zone>,
    /// By number: where its bits are, without empty words at the end.
    bits: Vec<(u32, u32)>,
    words: Vec<u64>,
    /// By pair of nodes: its first bit.
    pairs: AHashMap<(Node, Node), u32>,
    next_bit: u32,
    single: Vec<Bound>,
    differences: Vec<Bound>,
    /// By move and zone: the zone afterwards; `NONE` if there is none.
    posts: AHashMap<(u32, u32), u32>,
    pub bytes: u64,
}

impl Zones {
    pub fn new(thresholds: &Thresholds) -> Zones {
        Zones {
            zones: Interned::default(),
            bits: Vec::new(),
            words: Vec::new(),
            pairs: AHashMap::new(),
            next_bit: 0,
            single: thresholds.single.iter().copied().collect(),
            differences: thresholds.differences.iter().copied().collect(),
            posts: AHashMap::new(),
            bytes: 0,
        }
    }

    pub fn zone(&self, number: u32) -> &Zone {
        &self.zones[number as usize]
    }

    /// The number of a zone.
    pub fn number(&mut self, zone: Zone) -> u32 {
        if let Some(known) = self.zones.get_index_of(&zone) {
            return known as u32;
        }
        let start = self.words.len();
        for fact in &zone.0 {
            self.set_bits(start, fact);
        }
        let range = (start as u32, (self.words.len() - start) as u32);
        self.bits.push(range);
        let words = self.words.len() - start;
        self.bytes += (size_of_val(&zone.0[..]) + 8 * words + 64) as u64;
        self.zones.insert_full(zone).0 as u32
    }

    fn set_bits(&mut self, start: usize, fact: &Fact) {
        let bounds = match fact.left == Node::ZERO || fact.right == Node::ZERO {
            true => &self.single,
            false => &self.differences,
        };
        let first = *self
            .pairs
            .entry((fact.left, fact.right))
            .or_insert_with(|| {
                let first = self.next_bit;
                self.next_bit += bounds.len() as u32;
                first
            });
        for (bound, bit) in bounds.iter().zip(first..) {
            if *bound >= fact.most {
                let word = start + bit as usize / 64;
                if word >= self.words.len() {
                    self.words.resize(word + 1, 0);
                }
                self.words[word] |= 1 << (bit % 64);
            }
        }
    }

    /// Whether one zone covers another.
    pub fn covers(&self, larger: u32, smaller: u32) -> bool {
        larger == smaller || {
            let (larger, smaller) = (self.words(larger), self.words(smaller));
            larger.len() <= smaller.len() && larger.iter().zip(smaller).all(|(l, s)| l & !s == 0)
        }
    }

    fn words(&self, number: u32) -> &[u64] {
        let (start, len) = self.bits[number as usize];
        &self.words[start as usize..][..len as usize]
    }

    /// The zone after a move, if that was found before: `Some(NONE)` if there is none.
    pub fn post(&self, data: u32, zone: u32) -> Option<u32> {
        self.posts.get(&(data, zone)).copied()
    }

    /// Takes note of the zone after a move; gives its number.
    pub fn note(&mut self, data: u32, zone: u32, after: Option<Zone>) -> u32 {
        if let Some(known) = self.post(data, zone) {
            return known;
        }
        let after = after.map_or(NONE, |after| self.number(after));
        self.posts.insert((data, zone), after);
        self.bytes += 24;
        after
    }
}

#[cfg(test)]
mod tests {
    use super::super::matrix::tests::numbers;
    use super::*;

    /// Bits tell what facts tell.
    #[test]
    fn bits_cover_as_facts_do() {
        let thresholds: Thresholds = "-2,0,1/-1,3".parse().expect("they are well written");
        let mut zones = Zones::new(&thresholds);
        let mut next = numbers(7);
        let mut all = Vec::new();
        for _ in 0..300 {
            let mut facts = Vec::new();
            for left in 0..5 {
                for right in 0..5 {
                    let single = left == 0 || right == 0;
                    let bounds = if single {
                        &zones.single
                    } else {
                        &zones.differences
                    };
                    if left != right && next(3) == 0 {
                        let most = bounds[next(bounds.len() as i64) as usize];
                        facts.push(Fact::new(Node(2 * left), Node(2 * right), most));
                    }
                }
            }
            // Some are parts of others.
            all.push(Zone(
                facts.iter().copied().filter(|_| next(4) > 0).collect(),
            ));
            all.push(Zone(facts.into()));
        }
        let mut covered = 0;
        for larger in &all {
            for smaller in &all {
                let numbers = [larger, smaller].map(|zone| zones.number(zone.clone()));
                let covers = zones.covers(numbers[0], numbers[1]);
                assert_eq!(covers, larger.covers(smaller), "{larger:?} {smaller:?}");
                covered += usize::from(covers);
            }
        }
        assert!(covered > 600, "{covered}");
    }
}
