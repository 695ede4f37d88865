//! Certificates as files: JSON with a line for each small part.

use super::{Failure, output};
use crate::limits::StopReason;
use serde::Serialize;
use serde_json::Value as Json;
use std::fmt::Write;
use std::path::Path;

/// What fits on a line.
const WIDTH: usize = 100;

/// Writes a certificate, unless making it was ended by a limit.
pub fn write(path: &Path, certificate: Result<impl Serialize, StopReason>) -> Result<(), Failure> {
    let certificate = certificate.map_err(|reason| {
        let path = path.display();
        Failure::message(format!("'{path}' was not written: {reason}"))
    })?;
    let json = serde_json::to_value(certificate);
    let json = json.expect("certificates have string keys and finite numbers");
    let mut text = String::new();
    part(&json, 0, &mut text);
    text.push('\n');
    output::write(path, &text)
}

/// A value on one line if it fits, otherwise its parts one below the other.
fn part(json: &Json, indent: usize, out: &mut String) {
    let line = json.to_string();
    let mut list = |brackets: [char; 2], parts: Vec<(String, &Json)>| {
        out.push(brackets[0]);
        for (index, (key, value)) in parts.into_iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(out, "{comma}\n{:width$}{key}", "", width = indent + 1);
            part(value, indent + 1, out);
        }
        let _ = write!(out, "\n{:indent$}{}", "", brackets[1]);
    };
    match json {
        Json::Array(values) if line.len() > WIDTH => {
            let parts = values.iter().map(|value| (String::new(), value));
            list(['[', ']'], parts.collect());
        }
        Json::Object(fields) if line.len() > WIDTH => {
            let key = |key: &String| format!("{}: ", Json::from(key.as_str()));
            let parts = fields.iter().map(|(name, value)| (key(name), value));
            list(['{', '}'], parts.collect());
        }
        _ => out.push_str(&line),
    }
}
