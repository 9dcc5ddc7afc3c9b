//! Compares what a page shows with what was printed: by shape, without what differs from run to run.

/// A line without what differs from run to run: numbers, units of time, secrets, digests, widths of columns.
fn shape(line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    let hexadecimal = |c: char| c.is_ascii_hexdigit();
    let trimmed = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if trimmed.len() >= 12 && trimmed.chars().all(hexadecimal) {
        return word.replace(trimmed, "HEX");
    }
    if let Some((before, secret)) = word.split_once("daylight_") {
        let ends = secret.find(|c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c)).unwrap_or(secret.len());
        if ends == 43 || secret.starts_with("...") {
            return format!("{before}daylight_...{}", &secret[ends..]);
        }
    }
    let mut shape = String::new();
    for c in word.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if !(c == '0' && shape.ends_with('0')) {
            shape.push(c);
        }
    }
    for unit in ["0.0ms", "0.0µs", "0.0s", "0ms", "0µs"] {
        shape = shape.replace(unit, "0s");
    }
    shape
}

/// The first line of a page's output that was not printed, or not in its order. `...` stands for any lines, and at the end of a line for its rest.
pub(super) fn missing(shown: &[String], printed: &str) -> Option<String> {
    let mut printed = printed.lines().map(shape);
    for line in shown.iter().filter(|line| !matches!(line.trim(), "" | "...")) {
        let rest = line.strip_suffix("...").filter(|line| !line.ends_with("daylight_"));
        let wanted = shape(rest.unwrap_or(line));
        if !printed.any(|line| line == wanted || rest.is_some() && line.starts_with(&wanted)) {
            return Some(line.trim().to_owned());
        }
    }
    None
}

#[test]
fn lines_are_compared_by_their_shape_and_in_their_order() {
    let printed =
        "made  12 in 6.9ms\nkey: daylight_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nETag: \"0123456789abcdef\"\n";
    let shown = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        missing(&shown(&["    made 3 in 316.0ms", "...", "key: daylight_...", "ETag: \"fedcba9876543210\""]), printed),
        None
    );
    assert_eq!(missing(&shown(&["key: daylight_...", "made 3 in 1s"]), printed), Some("made 3 in 1s".to_owned()));
    assert_eq!(missing(&shown(&["made 3 ..."]), printed), None);
    assert_eq!(missing(&shown(&["made nothing"]), printed), Some("made nothing".to_owned()));
}
