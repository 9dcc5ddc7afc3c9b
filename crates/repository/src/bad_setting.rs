//! A setting that cannot be, in words for whoever set it.

/// What is wrong with a setting, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct BadSetting {
    text: String,
    hint: String,
}

impl BadSetting {
    /// What is wrong, and what would be right.
    pub fn new(text: impl Into<String>, hint: &str) -> Self {
        Self { text: text.into(), hint: hint.to_owned() }
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}
