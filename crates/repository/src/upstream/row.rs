//! A file of an upstream, as policy sees it.

use crate::error::Error;
use crate::format::Format;
use crate::maven::upstream::artifact_date;
use crate::policy::named::{Named, Since};
use crate::upstream::Remote;
use crate::upstream::first_seen::store::{FirstSeenStore, VersionPath};
use crate::upstream::flights::Arriving;
use crate::upstream::release_age::{AgeRecord, KnownAge};
use crate::upstream::ttl::Ttl;
use crate::visible::Row;
use format::maven::path;
use store::{CachedFile, Digest, State};
use telemetry::{Event, Millis};

/// A file of an upstream at its path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfUpstream<'a> {
    path: &'a str,
    first_seen: Millis,
    since: Since,
    /// Whether it is hidden for want of a date that the list of its artifact may tell.
    undated: bool,
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
    pub(crate) async fn arriving(
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
        let row = Self { path, first_seen, since: Since::FirstSeen(first_seen), undated: false };
        if !repository.view(now).finds_young(&row) {
            return Ok(row);
        }
        // It may have fallen out of the cache, be of a version that was seen before, or be older than it is known here.
        let lasting = Ttl::of(repository, path).lasting();
        let known = FirstSeenStore::of(remote).known(repository.format, (path, sha256, lasting), event).await?;
        let met = known.dated(modified, now);
        let since = if met.since < first_seen { met.age() } else { row.since };
        // A date is asked for once: then it is known that there is none.
        let open = match known {
            KnownAge::Seen(AgeRecord { open, .. }) => open,
            KnownAge::Nothing => true,
            KnownAge::Appeared => false,
        };
        let undated = open && modified.is_none() && matches!(since, Since::FirstSeen(_));
        let row = Self { since, ..row };
        Ok(Self { undated: undated && repository.view(now).finds_young(&row), ..row })
    }

    /// Has the list of its artifact read, where that may tell since when it exists. Says whether it may be of another age now.
    pub(crate) async fn look_for_date(&self, remote: &Remote, event: &mut Event) -> Result<bool, Error> {
        // Builds of snapshots say themselves when they were made.
        let artifact = |listed: &VersionPath<'_>| listed.version.is_some() && !path::is_snapshot(listed.folder);
        match VersionPath::at(self.path).filter(artifact) {
            Some(VersionPath { folder, .. }) if self.undated && remote.repository.format == Format::Maven => {
                artifact_date::look(remote, folder, event).await
            }
            _ => Ok(false),
        }
    }
}

impl Row for OfUpstream<'_> {
    fn standing(&self) -> (State, Millis, Millis) {
        (State::Live, self.first_seen, self.first_seen)
    }

    fn what(&self, format: Format) -> Option<Named<'_>> {
        Some(Named::file(format, self.path, self.since)?.upstream())
    }
}
