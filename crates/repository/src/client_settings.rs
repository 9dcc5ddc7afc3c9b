//! `settings.xml`: what Maven has to be told to use a repository, ready to be saved.

use crate::{Content, Repository, Source};
use bytes::Bytes;
use format::maven::settings::{self, Use};
use store::{Hashes, RepositoryKind};

/// The settings for a repository that clients reach at `url`.
pub(crate) fn of(repository: &Repository, url: &str) -> Content {
    let how = match repository.record.kind {
        RepositoryKind::Hosted => Use::Beside,
        RepositoryKind::Remote | RepositoryKind::Group => Use::Instead,
    };
    let bytes = Bytes::from(settings::render(&repository.record.name, url, how));
    Content {
        hashes: Some(Hashes::of(&bytes)),
        source: Source::Memory(bytes),
        modified: None,
        media: "application/xml",
        lasting: false,
        fresh_until: None,
        freshness: None,
    }
}
