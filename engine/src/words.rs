//! Numbers in words: figures with their units, as messages and tables show them.

/// A number with thin groups of three digits: `7,366,646`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time with its unit: `0.004 s`, `12.3 s`, `5 min 02 s`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.9995 => format!("{s:.3} s"),
        s if s < 99.95 => format!("{s:.1} s"),
        s => format!("{} min {:02} s", s as u64 / 60, s as u64 % 60),
    }
}

/// A size with its unit: `512 B`, `1.5 MiB`.
pub fn bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && size < 99.95);
    format!("{size:.digits$} {}", units[unit])
}

/// `1 state`, `2 states`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_units() {
        let times = [0.0, 0.0004, 0.9994, 0.9996, 99.94, 99.96, 3599.9].map(duration);
        let expected = [
            "0.000 s",
            "0.000 s",
            "0.999 s",
            "1.0 s",
            "99.9 s",
            "1 min 39 s",
            "59 min 59 s",
        ];
        assert_eq!(times, expected);
        let sizes = [0, 999, 1000, 1 << 20, 999 << 20, 1 << 30, u64::MAX].map(bytes);
        let expected = [
            "0 B",
            "999 B",
            "1.0 KiB",
            "1.0 MiB",
            "999 MiB",
            "1.0 GiB",
            "16777216 TiB",
        ];
        assert_eq!(sizes, expected);
    }

    #[test]
    fn digits_are_grouped() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (7366646, "7,366,646"),
        ];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}
