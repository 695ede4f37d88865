//! Boolean formulas as interned decision diagrams.
//!
//! A formula is a number, so that a label of a state takes four bytes and equal formulas
//! are equal numbers; the results of operations are remembered. All diagrams together may
//! have a limited number of nodes: labelling fails by formulas that grow, not by states.

use ahash::{AHashMap, RandomState};
use biodivine_lib_bdd::{Bdd, BddPointer, BddVariable, BddVariableSet, op_function};
use indexmap::IndexSet;

/// A formula among those of one [`Formulas`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormulaId(pub u32);

pub const FALSE: FormulaId = FormulaId(0);
pub const TRUE: FormulaId = FormulaId(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Op {
    And,
    Or,
}

/// The formulas have outgrown the limit on nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The most variables that formulas can have.
pub const MOST_VARIABLES: usize = u16::MAX as usize - 1;

/// All formulas that were met, over the same variables.
pub struct Formulas {
    variables: BddVariableSet,
    diagrams: IndexSet<Bdd, RandomState>,
    /// Results of operations.
    known: AHashMap<(Op, FormulaId, FormulaId), FormulaId>,
    nodes: usize,
    most_nodes: usize,
}

impl Formulas {
    /// No formulas but the constants yet, over variables that are numbered from 0.
    pub fn new(variables: usize, most_nodes: usize) -> Result<Formulas, TooLarge> {
        if variables > MOST_VARIABLES {
            return Err(TooLarge);
        }
        let variables = BddVariableSet::new_anonymous(variables as u16);
        let mut diagrams = IndexSet::default();
        diagrams.insert(variables.mk_false());
        diagrams.insert(variables.mk_true());
        Ok(Formulas {
            variables,
            diagrams,
            known: AHashMap::new(),
            nodes: 0,
            most_nodes,
        })
    }

    /// The formula that is one variable.
    pub fn variable(&mut self, index: usize) -> Result<FormulaId, TooLarge> {
        let variable = self.variables.mk_var(BddVariable::from_index(index));
        self.intern(variable)
    }

    #[inline]
    pub fn and(&mut self, a: FormulaId, b: FormulaId) -> Result<FormulaId, TooLarge> {
        match (a, b) {
            (FALSE, _) | (_, FALSE) => Ok(FALSE),
            (TRUE, other) | (other, TRUE) => Ok(other),
            _ if a == b => Ok(a),
            _ => self.apply(Op::And, a, b),
        }
    }

    #[inline]
    pub fn or(&mut self, a: FormulaId, b: FormulaId) -> Result<FormulaId, TooLarge> {
        match (a, b) {
            (TRUE, _) | (_, TRUE) => Ok(TRUE),
            (FALSE, other) | (other, FALSE) => Ok(other),
            _ if a == b => Ok(a),
            _ => self.apply(Op::Or, a, b),
        }
    }

    /// Whether a formula is true if exactly the variables that satisfy `is_true` are.
    pub fn holds(&self, formula: FormulaId, is_true: impl Fn(usize) -> bool) -> bool {
        let diagram = &self.diagrams[formula.0 as usize];
        follow(diagram, diagram.root_pointer(), is_true)
    }

    /// The minimal sets of variables that satisfy a formula without negations, at most
    /// `most` of them; `None` if there are more.
    pub fn solutions(&self, formula: FormulaId, most: usize) -> Option<Vec<Vec<usize>>> {
        self.minimal(formula, true, most)
    }

    /// The minimal sets of variables of which a formula without negations needs one, at
    /// most `most` of them; `None` if there are more.
    pub fn clauses(&self, formula: FormulaId, most: usize) -> Option<Vec<Vec<usize>>> {
        self.minimal(formula, false, most)
    }

    /// The minimal sets of variables that make a formula true by being true, or false by
    /// being false.
    fn minimal(&self, formula: FormulaId, wanted: bool, most: usize) -> Option<Vec<Vec<usize>>> {
        let diagram = &self.diagrams[formula.0 as usize];
        let mut sets: AHashMap<BddPointer, Vec<Vec<usize>>> = AHashMap::new();
        for at in diagram.pointers() {
            let found = match at.as_bool() {
                Some(value) if value == wanted => vec![Vec::new()],
                Some(_) => Vec::new(),
                None => {
                    let variable = diagram.var_of(at).to_index();
                    let (low, high) = (diagram.low_link_of(at), diagram.high_link_of(at));
                    let (without, with) = if wanted { (low, high) } else { (high, low) };
                    let needed = |set: &&Vec<usize>| {
                        let value = |index| set.contains(&index) == wanted;
                        follow(diagram, without, value) != wanted
                    };
                    let mut found = sets[&without].clone();
                    found.extend(sets[&with].iter().filter(needed).map(|set| {
                        let mut set = set.clone();
                        set.insert(0, variable);
                        set
                    }));
                    found
                }
            };
            if found.len() > most {
                return None;
            }
            sets.insert(at, found);
        }
        let mut minimal = sets.remove(&diagram.root_pointer())?;
        minimal.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        Some(minimal)
    }

    /// How many different formulas there are.
    pub fn count(&self) -> usize {
        self.diagrams.len()
    }

    /// Nodes over all formulas.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    #[inline]
    fn apply(&mut self, op: Op, a: FormulaId, b: FormulaId) -> Result<FormulaId, TooLarge> {
        let key = (op, a.min(b), a.max(b));
        match self.known.get(&key) {
            Some(known) => Ok(*known),
            None => self.work_out(key),
        }
    }

    #[cold]
    fn work_out(&mut self, key: (Op, FormulaId, FormulaId)) -> Result<FormulaId, TooLarge> {
        let (op, a, b) = key;
        let left = self.most_nodes.saturating_sub(self.nodes);
        let diagram = |id: FormulaId| &self.diagrams[id.0 as usize];
        let result = match op {
            Op::And => Bdd::binary_op_with_limit(left, diagram(a), diagram(b), op_function::and),
            Op::Or => Bdd::binary_op_with_limit(left, diagram(a), diagram(b), op_function::or),
        };
        let result = self.intern(result.ok_or(TooLarge)?)?;
        self.known.insert(key, result);
        Ok(result)
    }

    fn intern(&mut self, diagram: Bdd) -> Result<FormulaId, TooLarge> {
        let size = diagram.size();
        let (index, new) = self.diagrams.insert_full(diagram);
        if new {
            self.nodes += size;
            if self.nodes > self.most_nodes {
                return Err(TooLarge);
            }
        }
        u32::try_from(index).map(FormulaId).map_err(|_| TooLarge)
    }
}

/// The value of a part of a diagram.
fn follow(diagram: &Bdd, mut at: BddPointer, is_true: impl Fn(usize) -> bool) -> bool {
    while !at.is_terminal() {
        at = match is_true(diagram.var_of(at).to_index()) {
            true => diagram.high_link_of(at),
            false => diagram.low_link_of(at),
        };
    }
    at.is_one()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_formulas_are_equal_numbers() {
        let mut all = Formulas::new(3, 1000).unwrap();
        let [x, y, z] = [0, 1, 2].map(|index| all.variable(index).unwrap());
        let left = all.or(y, z).unwrap();
        let left = all.and(x, left).unwrap();
        let (first, second) = (all.and(x, y).unwrap(), all.and(z, x).unwrap());
        assert_eq!(all.or(first, second).unwrap(), left);
        assert_eq!(all.and(left, FALSE).unwrap(), FALSE);
        assert_eq!(all.or(left, TRUE).unwrap(), TRUE);
        assert_eq!(all.solutions(left, 9).unwrap(), [[0, 1], [0, 2]]);
        assert_eq!(all.clauses(left, 9).unwrap(), [vec![0], vec![1, 2]]);
        assert_eq!(all.solutions(left, 1), None);
        assert_eq!(all.solutions(FALSE, 9).unwrap(), Vec::<Vec<usize>>::new());
        assert_eq!(all.clauses(TRUE, 9).unwrap(), Vec::<Vec<usize>>::new());
        assert_eq!(all.solutions(TRUE, 9).unwrap(), [Vec::<usize>::new()]);
        assert!(all.holds(left, |index| index != 1));
        assert!(!all.holds(left, |index| index != 0));
    }

    #[test]
    fn too_many_nodes_are_refused() {
        let mut all = Formulas::new(20, 30).unwrap();
        let mut odd = FALSE;
        let result = (0..10).try_for_each(|index| {
            let both = (all.variable(2 * index)?, all.variable(2 * index + 1)?);
            let pair = all.and(both.0, both.1)?;
            odd = all.or(odd, pair)?;
            Ok(())
        });
        assert_eq!(result, Err(TooLarge));
        assert!(Formulas::new(70_000, 10).is_err());
    }

    proptest! {
        /// Against all sets of variables, for a conjunction of clauses.
        #[test]
        fn minimal_sets(
            clauses in prop::collection::vec(prop::collection::btree_set(0usize..7, 0..4), 0..7),
        ) {
            let mut all = Formulas::new(7, 100_000).unwrap();
            let mut formula = TRUE;
            for clause in &clauses {
                let mut any = FALSE;
                for &index in clause {
                    let variable = all.variable(index).unwrap();
                    any = all.or(any, variable).unwrap();
                }
                formula = all.and(formula, any).unwrap();
            }
            let hits = |set: usize| {
                clauses.iter().all(|clause| clause.iter().any(|index| set >> index & 1 == 1))
            };
            let smaller = |set: usize| (0..7).map(move |bit| set & !(1 << bit)).filter(move |s| *s != set);
            let members = |set: usize| (0..7).filter(|bit| set >> bit & 1 == 1).collect();
            let sorted = |sets: Vec<usize>| {
                let mut sets: Vec<Vec<usize>> = sets.into_iter().map(members).collect();
                sets.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
                sets
            };
            for set in 0..128 {
                prop_assert_eq!(all.holds(formula, |index| set >> index & 1 == 1), hits(set));
            }
            let solutions = (0..128).filter(|&s| hits(s) && !smaller(s).any(hits));
            prop_assert_eq!(all.solutions(formula, 200).unwrap(), sorted(solutions.collect()));
            let fails = |set: usize| !hits(127 & !set);
            let needed = (0..128).filter(|&s| fails(s) && !smaller(s).any(fails));
            prop_assert_eq!(all.clauses(formula, 200).unwrap(), sorted(needed.collect()));
        }
    }
}
