//! Names of one language as names of another.

use crate::lang::lexer::KEYWORDS;
use std::collections::HashSet;

/// The names that are taken. A name of another language is kept where it fits.
#[derive(Debug, Clone)]
pub struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// No names yet, except these words.
    pub fn avoiding(words: &[&str]) -> Names {
        Names {
            taken: words.iter().map(|word| word.to_string()).collect(),
        }
    }

    /// Names of the native language.
    pub fn native() -> Names {
        Names::avoiding(&KEYWORDS)
    }

    /// A native name for a foreign one, like it and not in use.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let fitting = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut name: String = wanted
            .chars()
            .take(100)
            .map(|c| if fitting(c) { c } else { '_' })
            .collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
            name.insert(0, '_');
        }
        let mut unique = name.clone();
        let mut number = 1;
        while !self.taken.insert(unique.clone()) {
            number += 1;
            unique = format!("{name}_{number}");
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_where_they_fit() {
        let mut names = Names::native();
        let fresh = ["x", "x", "add", "a.b", "7", ""].map(|name| names.fresh(name));
        assert_eq!(fresh, ["x", "x_2", "add_2", "a_b", "_7", "_"]);
    }
}
