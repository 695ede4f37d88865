//! A small source of random numbers.

use std::ops::Range;

/// The seeds of a test. `FENCESMITH_SEEDS=N` asks for the N-th batch of as many others.
pub fn seeds(first: u64, count: u64) -> Range<u64> {
    let batch = std::env::var("FENCESMITH_SEEDS").map_or(0, |text| {
        let batch = text.parse::<u64>();
        batch.expect("FENCESMITH_SEEDS is the number of a batch")
    });
    let first = first + batch * count;
    first..first + count
}

/// SplitMix64: the same seed gives the same numbers.
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// One of the things, in proportion to their weights.
    pub fn weighted<T: Copy>(&mut self, table: &[(usize, T)]) -> T {
        let total = table.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for (weight, thing) in table {
            if left < *weight {
                return *thing;
            }
            left -= weight;
        }
        unreachable!("the weights add up")
    }
}
