//! Names of repositories. They are part of every client's settings file, so the rules are strict.

use std::fmt;

/// A repository's name: 1 to 64 characters of `a-z 0-9 - _ .`, beginning with a letter or digit. It never contains an
/// `@`, which introduces a moment in a URL (`/repository/NAME@2026-11-01/`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryName(String);

/// The text is not a repository's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be a repository's name")]
pub struct BadName(pub String);

impl BadName {
    /// The remedy.
    pub fn hint(&self) -> &'static str {
        "use 1 to 64 of a-z, 0-9, `-`, `_` and `.`, beginning with a letter or digit"
    }
}

impl RepositoryName {
    /// Maximum length, in bytes.
    pub const MAX: usize = 64;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for RepositoryName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let inside = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
        let begins = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if begins && text.len() <= Self::MAX && text.bytes().all(inside) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadName(text.chars().take(Self::MAX).collect()))
        }
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_lower_case_and_begin_with_a_letter_or_digit() {
        for good in ["gems", "gems-private", "a", "0", "maven.releases_2"] {
            assert_eq!(good.parse::<RepositoryName>().unwrap().as_str(), good);
        }
        for bad in ["", "-a", ".a", "..", "A", "a b", "a@b", "a/b", "a\n", "é", &"a".repeat(65)] {
            assert!(bad.parse::<RepositoryName>().is_err(), "{bad:?}");
        }
    }
}
