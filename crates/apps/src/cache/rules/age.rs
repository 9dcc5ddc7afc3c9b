//! `Age` of a response (RFC 9111, 5.1): the first value of the first line counts, and one that is not a number is ignored.

use super::directives::seconds;
use http::{HeaderMap, header};

/// The seconds.
pub(crate) fn of(headers: &HeaderMap) -> u64 {
    let Some(value) = headers.get(header::AGE) else { return 0 };
    let first = value.as_bytes().split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
    // A parameter does not make an old response a new one.
    let number = first.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    seconds(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_counts_if_it_is_a_number() {
        for (lines, age) in [
            (&["0"][..], 0),
            (&["7200"], 7200),
            (&["2147483649"], 1 << 31),
            (&["abc"], 0),
            (&["-7200"], 0),
            (&["7200.0"], 0),
            (&["7200, 0"], 7200),
            (&["0, 7200"], 0),
            (&["7200", "0"], 7200),
            (&["0", "7200"], 0),
            (&["7200;foo=bar"], 7200),
            (&[""], 0),
            (&[], 0),
        ] {
            let mut headers = HeaderMap::new();
            lines.iter().for_each(|line| assert!(!headers.append("age", line.parse().unwrap()) || lines.len() > 1));
            assert_eq!(of(&headers), age, "{lines:?}");
        }
    }
}
