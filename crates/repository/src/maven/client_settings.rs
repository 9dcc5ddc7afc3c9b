//! `settings.xml`: what Maven has to be told to use a repository, ready to be saved.

use crate::content::Content;
use crate::repository::Repository;
use format::maven::settings::{self, Use};
use store::RepositoryKind;

/// The settings for a repository that clients reach at `url`, which has no slash at its end.
pub(crate) fn of(repository: &Repository, url: &str) -> Content {
    let how = match repository.record.kind {
        RepositoryKind::Hosted => Use::Beside,
        RepositoryKind::Remote | RepositoryKind::Group => Use::Instead,
    };
    Content::text(settings::render(&repository.record.name, &format!("{url}/"), how), "application/xml")
}
