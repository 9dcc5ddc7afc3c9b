//! A setting that cannot be, in words for whoever set it.

use crate::record::RepositoryRecord;
use std::ops::RangeInclusive;

/// What is wrong with a setting, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct BadSetting {
    text: String,
    hint: String,
}

impl BadSetting {
    /// Most URLs of one remote repository: the upstream and its mirrors.
    pub(crate) const URLS_MAX: usize = 8;

    /// What is wrong, and what would be right.
    pub fn new(text: impl Into<String>, hint: &str) -> Self {
        Self { text: text.into(), hint: hint.to_owned() }
    }

    /// The setting `name` of a repository that has none of that name; `whose` says which repositories have it.
    pub(crate) fn not_for(name: &str, record: &RepositoryRecord, whose: &str) -> Self {
        let text = format!("`{name}` is a setting of {whose}");
        let (kind, format) = (record.kind.as_str(), &record.format);
        Self::new(text, &format!("`{}` is a {kind} repository of format {format}: leave it out", record.name))
    }

    /// The number of URLs of a remote repository.
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

    /// What to do about it.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}
