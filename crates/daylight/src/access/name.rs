//! Names of tokens and their owners. The journal says by these names who did what, so two that look the same must be the
//! same, and nobody takes the name that the program itself writes under.

use crate::error::Error;

/// Longest name of a token or an owner, in bytes.
const MAX: usize = 128;
/// The program itself, and whoever shows no token.
const RESERVED: [&str; 2] = ["daylight", "anyone"];
/// Letters that nothing is seen of (Unicode's fillers of Hangul), of which a name could be made that looks empty.
const INVISIBLE: [char; 4] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];

/// Whether a token's `what` (its name or its owner) can be `text`.
pub(super) fn check(what: &str, text: &str) -> Result<(), Error> {
    let seen =
        |one: char| (one.is_alphanumeric() && !INVISIBLE.contains(&one)) || one.is_ascii_punctuation() || one == ' ';
    if text.len() <= MAX && text.chars().all(seen) && text.trim() == text && !text.contains("  ") {
        return Ok(());
    }
    Err(Error::Input(format!(
        "a token's {what} has at most {MAX} bytes: letters, digits, ASCII punctuation, and single spaces between them"
    )))
}

/// Refuses names that the journal uses for others.
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
    fn a_name_is_what_it_looks_like() {
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
    fn nobody_is_called_as_the_program_is() {
        for taken in ["daylight", "Daylight", "anyone"] {
            assert!(check_free("name", taken).is_err(), "{taken}");
        }
        assert!(check_free("name", "daylight-ci").is_ok());
    }
}
