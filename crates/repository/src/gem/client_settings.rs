//! Settings files with which Bundler and `gem` use a repository.

use crate::content::Content;
use crate::repository::Repository;
use format::gem::settings::{SettingsFile, Use};
use store::RepositoryKind;

/// The file for a repository that clients reach at `url`, which has no slash at its end.
pub(crate) fn of(repository: &Repository, file: SettingsFile, url: &str) -> Content {
    let how = match repository.record.kind {
        RepositoryKind::Hosted => Use::Beside,
        RepositoryKind::Remote | RepositoryKind::Group => Use::Instead,
    };
    Content::text(file.render(&format!("{url}/"), repository.record.private, how), "application/yaml")
}
