//! Atomic sections: `__VERIFIER_atomic_begin` to `__VERIFIER_atomic_end`, and functions whose
//! names begin with `__VERIFIER_atomic`. They are one step, directly on memory.

use super::lowering::{Lowering, Read};
use crate::program::Instr;
use lang_c::span::Span as Piece;

impl<'a> Lowering<'a> {
    pub fn begin_section(&mut self, piece: Piece) -> Read<()> {
        if self.section.is_some() {
            return self.error(piece, "atomic sections do not nest");
        }
        self.section = Some((self.code.edges.len(), self.code.at));
        Ok(())
    }

    /// Makes one step of all edges since the section began, which must follow one another.
    pub fn end_section(&mut self, piece: Piece) -> Read<()> {
        let Some((first, start)) = self.section.take() else {
            return self.error(piece, "no atomic section has begun here");
        };
        let span = self.span(piece);
        let edges = self.code.edges.split_off(first);
        for location in &mut self.code.locations {
            location.out.retain(|edge| edge.index() < first);
        }
        let mut at = start;
        let mut body = Vec::new();
        for edge in edges {
            let straight = edge.from == at && !matches!(edge.instr, Instr::Atomic(_));
            if !straight {
                return self.refuse(
                    piece,
                    "only straight code is read inside an atomic section",
                    "put conditions before it, or use __VERIFIER_assume",
                );
            }
            at = edge.to;
            match edge.instr {
                Instr::Pass | Instr::Skip | Instr::Fence(_) => {}
                instr => body.push((instr, edge.span)),
            }
        }
        if at != self.code.at {
            return self.refuse(
                piece,
                "an atomic section must end where it began",
                "do not jump out of it",
            );
        }
        self.code.at = start;
        self.code.emit(Instr::Atomic(body), span);
        Ok(())
    }
}
