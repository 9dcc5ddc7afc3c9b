//! `settings.xml`: the settings with which Maven uses a repository, ready to be saved.

use crate::content::Content;
use crate::repository::Repository;
use format::maven::settings::{self, Use};
use store::RepositoryKind;

/// The settings for a repository at `url`, which does not end in a slash.
pub(crate) fn of(repository: &Repository, url: &str) -> Content {
    let how = match repository.record.kind {
        RepositoryKind::Hosted => Use::Beside,
        RepositoryKind::Remote | RepositoryKind::Group => Use::Instead,
    };
    Content::text(settings::render(&repository.record.name, &format!("{url}/"), how), "application/xml")
}
