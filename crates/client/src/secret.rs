//! A text that cannot be printed by accident.

use std::fmt;

/// Somebody's secret. Only [`Secret::expose`] gives it out, so that is what a reviewer looks for.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes it over.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself: to hash it, to send it, or to show it to its owner once.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}
