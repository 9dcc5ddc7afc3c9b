//! Checks the names of tokens and owners. The journal records under these names who changed what, so no two names may look the
//! same, and the names of the program itself are reserved.

use super::error::Error;

/// Longest name of a token or an owner, in bytes.
const MAX: usize = 128;
/// The program itself, and callers without a token.
const RESERVED: [&str; 2] = ["daylight", "anyone"];
/// Letters that are invisible (the fillers of Hangul in Unicode): a name of them would look empty.
const INVISIBLE: [char; 4] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];

/// Refuses a `text` that cannot be the name or the owner (`what`) of a token.
pub(super) fn check(what: &str, text: &str) -> Result<(), Error> {
    let visible =
        |one: char| (one.is_alphanumeric() && !INVISIBLE.contains(&one)) || one.is_ascii_punctuation() || one == ' ';
    if text.len() <= MAX && text.chars().all(visible) && text.trim() == text && !text.contains("  ") {
        return Ok(());
    }
    Err(Error::Input(format!(
        "a token's {what} has at most {MAX} bytes: letters, digits, ASCII punctuation, and single spaces between them"
    )))
}

/// Refuses names that are reserved.
pub(crate) fn check_free(what: &str, text: &str) -> Result<(), Error> {
    match RESERVED.into_iter().find(|name| text.eq_ignore_ascii_case(name)) {
        Some(name) => Err(Error::Input(format!("a token's {what} cannot be `{name}`: the journal uses it for itself"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_refused() {
        for good in [
            "admin",
            "mira@example.com",
            "ci (deploys) #7",
            "J\u{fc}rgen \u{5f20}\u{4f1f}",
            "",
            "host-user-20261122T120000",
        ] {
            assert!(check("name", good).is_ok(), "{good:?}");
        }
        for bad in [
            "admin ",
            " admin",
            "a  b",
            "a\tb",
            "a\u{a0}b",
            "\u{202e}nimda",
            "ad\u{200b}min",
            "ad\u{ad}min",
            "\u{feff}admin",
        ] {
            assert!(check("name", bad).is_err(), "{bad:?}");
        }
        for bad in ["\u{3164}", "a\u{e0041}", "a\u{301}", "a\u{2066}b", "a\nb", "a\u{2028}b"] {
            assert!(check("name", bad).is_err(), "{bad:?}");
        }
        assert!(check("name", &"a".repeat(MAX + 1)).is_err());
    }

    #[test]
    fn reserved_names_are_refused() {
        for taken in ["daylight", "Daylight", "anyone"] {
            assert!(check_free("name", taken).is_err(), "{taken}");
        }
        assert!(check_free("name", "daylight-ci").is_ok());
    }
}
