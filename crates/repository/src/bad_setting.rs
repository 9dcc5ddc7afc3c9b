//! An invalid setting, with a message and a hint for the person who set it.

use crate::record::RepositoryRecord;
use std::ops::RangeInclusive;

/// An invalid setting: the error and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct BadSetting {
    text: String,
    hint: String,
}

impl BadSetting {
    /// Maximum number of URLs of one remote repository: the upstream and its mirrors.
    pub(crate) const URLS_MAX: usize = 8;

    /// An invalid setting with this message and this hint.
    pub fn new(text: impl Into<String>, hint: &str) -> Self {
        Self { text: text.into(), hint: hint.to_owned() }
    }

    /// The error for the setting `name` in a repository that cannot have it. `whose` names the repositories that can.
    pub(crate) fn not_for(name: &str, record: &RepositoryRecord, whose: &str) -> Self {
        let text = format!("`{name}` is a setting of {whose}");
        let (kind, format) = (record.kind.as_str(), &record.format);
        Self::new(text, &format!("`{}` is a {kind} repository of format {format}: leave it out", record.name))
    }

    /// The error for too many or too few URLs of a remote repository.
    pub fn count_of_urls(count: usize) -> Self {
        let text = format!("`remote.urls` has 1 to {} URLs, not {count}", Self::URLS_MAX);
        Self::new(text, "the upstream first, then its mirrors")
    }

    /// Refuses a number outside of a range.
    pub(crate) fn check_range(name: &str, value: Option<u64>, range: RangeInclusive<u64>) -> Result<(), Self> {
        let Some(value) = value.filter(|value| !range.contains(value)) else { return Ok(()) };
        let hint = match *range.end() {
            u64::MAX => format!("at least {}", range.start()),
            end => format!("from {} to {end}", range.start()),
        };
        Err(Self::new(format!("`{name}` cannot be {value}"), &hint))
    }

    /// The remedy.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}
