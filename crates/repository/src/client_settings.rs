//! The settings files with which clients use a repository, ready to be saved.

use crate::content::Content;
use crate::repository::Repository;
use crate::{gem, maven};
use format::gem::settings::SettingsFile;

/// A settings file for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientSettings {
    /// Of Bundler or `gem`.
    Gem(SettingsFile),
    /// Of Maven.
    Maven,
}

impl ClientSettings {
    /// The file for a repository that clients reach at `url`, which has no slash at its end.
    pub(crate) fn of(self, repository: &Repository, url: &str) -> Content {
        match self {
            Self::Gem(file) => gem::client_settings::of(repository, file, url),
            Self::Maven => maven::client_settings::of(repository, url),
        }
    }
}
