//! Changes of a text as a unified diff, which `patch -p0` takes.

use similar::TextDiff;

/// How a file is changed; nothing if it is not.
pub fn unified_diff(name: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    // A name with white space ends with a tab.
    let header = match name.contains(char::is_whitespace) {
        true => format!("{name}\t"),
        false => name.to_string(),
    };
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (old, new) = (lines(old), lines(new));
    let diff = TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&old, &new);
    diff.unified_diff()
        .context_radius(3)
        .header(&header, &header)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_and_their_context() {
        let old = "a\nb\nc\nd\ne\r\nf";
        let new = "a\nb\nc\nd\nx\r\ne\r\nf";
        let expected = "--- t\n+++ t\n@@ -2,5 +2,6 @@\n b\n c\n d\n+x\r\n e\r\n f\n\\ No newline at end of file\n";
        assert_eq!(unified_diff("t", old, new), expected);
        assert_eq!(unified_diff("t", old, old), "");
        assert!(unified_diff("a b", old, new).starts_with("--- a b\t\n+++ a b\t\n"));
    }
}
