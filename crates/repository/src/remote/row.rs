//! A file of an upstream, as policy sees it.

use super::Remote;
use super::ages::Ages;
use super::flights::Arriving;
use super::sightings::Sightings;
use crate::visible::Row;
use crate::{Error, Format, Named, Since};
use store::{CachedFile, Digest, State};
use telemetry::{Event, Millis};

/// A file of an upstream at its path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfUpstream<'a> {
    path: &'a str,
    first_seen: Millis,
    since: Millis,
}

impl<'a> OfUpstream<'a> {
    /// One that is kept.
    pub(crate) async fn kept(
        remote: &Remote,
        path: &'a str,
        file: &CachedFile,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let modified = file.modified.as_deref().and_then(client::moment);
        Self::new(remote, path, (file.first_seen, modified, Some(file.hashes.sha256)), event).await
    }

    /// One that is on its way.
    pub(super) async fn arriving(
        remote: &Remote,
        path: &'a str,
        file: &Arriving,
        event: &mut Event,
    ) -> Result<Self, Error> {
        Self::new(remote, path, (file.first_seen, file.modified, None), event).await
    }

    async fn new(
        remote: &Remote,
        path: &'a str,
        (first_seen, modified, sha256): (Millis, Option<Millis>, Option<Digest>),
        event: &mut Event,
    ) -> Result<Self, Error> {
        let (now, repository) = (remote.now(), &remote.repository);
        let row = Self { path, first_seen, since: first_seen };
        if !repository.view(now).finds_young(&row) {
            return Ok(row);
        }
        // It may have fallen out of the cache, be of a version that was seen before, or be older than it is known here.
        let lasting = Ages::of(repository, path).lasting();
        let known = Sightings::of(remote).known(repository.format, (path, sha256, lasting), event).await?;
        Ok(Self { since: known.since(modified, now).min(first_seen), ..row })
    }
}

impl Row for OfUpstream<'_> {
    fn standing(&self) -> (State, Millis, Millis) {
        (State::Live, self.first_seen, self.first_seen)
    }

    fn what(&self, format: Format) -> Option<Named<'_>> {
        Some(Named::file(format, self.path, Since::Moment(self.since))?.upstream())
    }
}
