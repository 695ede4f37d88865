//! What a sweep is about: its options and its programs, so that it can be continued and
//! its results can be read without the files they came from.

use crate::source::Source;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// The version of the contract.
pub const MANIFEST_SCHEMA: &str = "fencesmith-sweep/1";

/// A sweep as it was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub schema: String,
    pub tool: String,
    /// `sweep` or `compare`.
    pub command: String,
    pub options: Map<String, Json>,
    pub programs: Vec<ListedProgram>,
}

/// A program of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedProgram {
    pub program: String,
    /// Why there are no cells for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The other files that it consists of, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub included: BTreeMap<String, String>,
}

impl ListedProgram {
    /// A program that can be run.
    pub fn readable(source: &Source) -> ListedProgram {
        let included = source.files().skip(1);
        ListedProgram {
            program: source.name().to_string(),
            error: None,
            source: Some(source.main_text().to_string()),
            included: included
                .map(|(name, span)| (name.to_string(), source.slice(span).to_string()))
                .collect(),
        }
    }

    /// A program that cannot.
    pub fn broken(program: &str, error: &str) -> ListedProgram {
        ListedProgram {
            program: program.to_string(),
            error: Some(error.to_string()),
            source: None,
            included: BTreeMap::new(),
        }
    }
}

impl Manifest {
    pub fn new(
        command: &str,
        options: Map<String, Json>,
        programs: Vec<ListedProgram>,
    ) -> Manifest {
        Manifest {
            schema: MANIFEST_SCHEMA.to_string(),
            tool: env!("CARGO_PKG_VERSION").to_string(),
            command: command.to_string(),
            options,
            programs,
        }
    }

    /// What is not as it was; nothing if `self` continues `old`.
    pub fn differences(&self, old: &Manifest) -> Vec<String> {
        let mut all = Vec::new();
        if (&self.command, &self.tool) != (&old.command, &old.tool) {
            let name = |m: &Manifest| format!("fencesmith {} {}", m.tool, m.command);
            all.push(format!(
                "it was made by {}, this is {}",
                name(old),
                name(self)
            ));
        }
        let mut keys: Vec<&String> = self.options.keys().chain(old.options.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let [was, is] = [old, self].map(|m| m.options.get(key).unwrap_or(&Json::Null));
            if was != is {
                all.push(format!("--{key} was {}, is {}", plain(was), plain(is)));
            }
        }
        let find =
            |m: &Manifest, name: &str| m.programs.iter().find(|p| p.program == name).cloned();
        for own in &self.programs {
            match find(old, &own.program) {
                None => all.push(format!("'{}' is new", own.program)),
                Some(was) if was != *own => all.push(format!("'{}' has changed", own.program)),
                Some(_) => {}
            }
        }
        let gone = old
            .programs
            .iter()
            .filter(|was| find(self, &was.program).is_none());
        all.extend(gone.map(|was| format!("'{}' is missing", was.program)));
        all
    }
}

/// A value as it would be typed.
fn plain(value: &Json) -> String {
    match value {
        Json::Null => "not given".to_string(),
        Json::String(text) => text.clone(),
        Json::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_named() {
        let options =
            |k: Json| Map::from_iter([("k".to_string(), k), ("full".into(), json!(true))]);
        let old = Manifest::new(
            "sweep",
            options(json!([0, 1])),
            vec![
                ListedProgram::readable(&Source::new("a", "x")),
                ListedProgram::readable(&Source::new("b", "x")),
            ],
        );
        assert_eq!(old.differences(&old), Vec::<String>::new());
        let new = Manifest::new(
            "sweep",
            options(json!([0, "auto"])),
            vec![
                ListedProgram::readable(&Source::new("a", "y")),
                ListedProgram::broken("c", "no"),
            ],
        );
        let expected = [
            "--k was 0,1, is 0,auto",
            "'a' has changed",
            "'c' is new",
            "'b' is missing",
        ];
        assert_eq!(new.differences(&old), expected);
    }
}
