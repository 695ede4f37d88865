//! The formulas that states are labelled with, and ψ.

use crate::formula::{FALSE, FormulaId, Formulas, TRUE, TooLarge};
use crate::limits::StopReason;
use crate::space::successors::Tag;

/// Gives the formula that prevents the steps with a tag.
pub type Prevention<'a> = Box<dyn FnMut(&mut Formulas, Tag) -> Result<FormulaId, TooLarge> + 'a>;

/// Labels over some variables, and the formula that comes of them.
pub struct Labels<'a> {
    pub formulas: Formulas,
    prevention: Prevention<'a>,
    /// What prevents the steps with a tag, once there was one.
    by_tag: Vec<Option<FormulaId>>,
    /// The conjunction of the labels of all errors met so far.
    psi: FormulaId,
    /// How often a transition was taken into account.
    pub updates: u64,
    /// Whether ψ is known, or why it is not, once the states were labelled.
    pub(super) outcome: Result<(), Unlabelled>,
}

/// Why there is no formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlabelled {
    /// The states were not all labelled.
    Stop(StopReason),
    /// The formulas have outgrown their limit.
    TooLarge,
}

impl<'a> Labels<'a> {
    /// Labels that are yet to be computed.
    pub fn new(formulas: Formulas, prevention: Prevention<'a>) -> Labels<'a> {
        Labels {
            formulas,
            prevention,
            by_tag: Vec::new(),
            psi: TRUE,
            updates: 0,
            outcome: Ok(()),
        }
    }

    /// The sets of fences with which no error is reached, once the states were labelled.
    pub fn psi(&self) -> Result<FormulaId, Unlabelled> {
        self.outcome.map(|()| self.psi)
    }

    /// Starts over.
    pub(super) fn begin(&mut self) {
        self.psi = TRUE;
        self.updates = 0;
    }

    /// No set of fences is left.
    pub(super) fn is_hopeless(&self) -> bool {
        self.psi == FALSE
    }

    /// A label as far as ψ has not decided it: equal for labels that agree where ψ holds.
    #[inline]
    pub(super) fn open(&mut self, label: FormulaId) -> Result<FormulaId, TooLarge> {
        self.formulas.and(label, self.psi)
    }

    /// Every set of fences that is left avoids a state with this label.
    #[inline]
    pub(super) fn excludes(&mut self, label: FormulaId) -> Result<bool, TooLarge> {
        Ok(self.open(label)? == self.psi)
    }

    /// What avoids the end of a transition, by way of this transition.
    #[inline]
    pub(super) fn through(&mut self, label: FormulaId, tag: Tag) -> Result<FormulaId, TooLarge> {
        let prevented = match self.by_tag.get(tag.index()) {
            Some(Some(known)) => *known,
            _ => self.add_tag(tag)?,
        };
        self.formulas.or(label, prevented)
    }

    /// An error has this label.
    pub(super) fn avoid(&mut self, label: FormulaId) -> Result<(), TooLarge> {
        self.psi = self.open(label)?;
        Ok(())
    }

    #[cold]
    fn add_tag(&mut self, tag: Tag) -> Result<FormulaId, TooLarge> {
        let prevented = (self.prevention)(&mut self.formulas, tag)?;
        if self.by_tag.len() <= tag.index() {
            self.by_tag.resize(tag.index() + 1, None);
        }
        self.by_tag[tag.index()] = Some(prevented);
        Ok(prevented)
    }
}
