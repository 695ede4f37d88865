//! Collects diagnostics, so that all of them appear in one go and never too many.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The first `limit` diagnostics by position, and a count of the others.
#[derive(Debug)]
pub struct Diagnostics {
    diagnostics: Vec<Diagnostic>,
    limit: usize,
    dropped: usize,
}

impl Diagnostics {
    pub fn new(limit: usize) -> Diagnostics {
        Diagnostics {
            diagnostics: Vec::new(),
            limit,
            dropped: 0,
        }
    }

    /// Adds a diagnostic; now and then those that cannot appear any more are dropped.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        if self.diagnostics.len() >= 16 * self.limit {
            self.prune();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// How many diagnostics there have been.
    pub fn len(&self) -> usize {
        self.diagnostics.len() + self.dropped
    }

    /// Everything sorted by position, with a closing line if some are left out.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.prune();
        if self.dropped > 0 {
            let plural = if self.dropped == 1 { "" } else { "s" };
            let message = format!("and {} more error{plural}", self.dropped);
            let mut closing = Diagnostic::error(Span::new(0, 0), message);
            closing.span = None;
            self.diagnostics.push(closing);
        }
        self.diagnostics
    }

    fn prune(&mut self) {
        self.diagnostics
            .sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
        // A text that is copied has its mistakes in every copy.
        self.diagnostics.dedup();
        let more = self.diagnostics.len().saturating_sub(self.limit);
        self.diagnostics.truncate(self.limit);
        self.dropped += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_capped() {
        let mut diagnostics = Diagnostics::new(2);
        for start in [5, 3, 9, 1] {
            diagnostics.push(Diagnostic::error(Span::new(start, start + 1), "e"));
        }
        let shown = diagnostics.finish();
        let spans: Vec<_> = shown.iter().map(|d| d.span.map(|s| s.start)).collect();
        assert_eq!(spans, [Some(1), Some(3), None]);
        assert_eq!(shown[2].message, "and 2 more errors");
    }
}
