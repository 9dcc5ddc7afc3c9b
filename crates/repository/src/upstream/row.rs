//! A file of an upstream, as policy sees it.

use crate::error::Error;
use crate::format::Format;
use crate::policy::package_version::{PackageVersion, Since};
use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::first_seen::store::FirstSeenStore;
use crate::upstream::flight::Arriving;
use crate::upstream::release_age::{AgeRecord, KnownAge};
use crate::upstream::ttl::Ttl;
use crate::visible::Row;
use store::{CachedFile, Digest, State};
use telemetry::{Event, Millis};

/// A file of an upstream at its path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfUpstream<'a> {
    file: &'a File<'a>,
    first_seen: Millis,
    since: Since,
    /// Whether it is hidden for want of a date that the list of its artifact may tell.
    undated: bool,
}

impl<'a> OfUpstream<'a> {
    /// One that is kept.
    pub(crate) async fn kept(
        remote: &Remote,
        file: &'a File<'a>,
        cached: &CachedFile,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let modified = cached.modified.as_deref().and_then(client::moment);
        Self::new(remote, file, cached.first_seen, modified, Some(cached.hashes.sha256), event).await
    }

    /// One that is on its way.
    pub(crate) async fn arriving(
        remote: &Remote,
        file: &'a File<'a>,
        arriving: &Arriving,
        event: &mut Event,
    ) -> Result<Self, Error> {
        Self::new(remote, file, arriving.first_seen, arriving.modified, None, event).await
    }

    async fn new(
        remote: &Remote,
        file: &'a File<'a>,
        first_seen: Millis,
        modified: Option<Millis>,
        sha256: Option<Digest>,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let (now, repository) = (remote.now(), &remote.repository);
        let row = Self { file, first_seen, since: Since::FirstSeen(first_seen), undated: false };
        if !repository.view(now).finds_young(&row) {
            return Ok(row);
        }
        // It may have fallen out of the cache, be of a version that was seen before, or be older than it is known here.
        let lasting = Ttl::of(repository, file).lasting();
        let known = FirstSeenStore::of(remote).known(file, sha256, lasting, event).await?;
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
        match self.undated {
            true => (remote.remotes.date_lookup)(remote, self.file, event).await,
            false => Ok(false),
        }
    }
}

impl Row for OfUpstream<'_> {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (State::Live, self.first_seen, self.first_seen)
    }

    fn coordinates(&self, _: Format) -> Option<PackageVersion<'_>> {
        Some(self.file.named(self.since)?.upstream())
    }
}
