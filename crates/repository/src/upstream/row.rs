//! A file of an upstream as the input of a policy.

use crate::error::Result;
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
    /// Whether it is hidden because its date is unknown, and the list of its artifact may have the date.
    undated: bool,
}

impl<'a> OfUpstream<'a> {
    /// The row of a cached file.
    pub(crate) async fn kept(
        remote: &Remote,
        file: &'a File<'a>,
        cached: &CachedFile,
        event: &mut Event,
    ) -> Result<Self> {
        let modified = cached.modified.as_deref().and_then(client::moment);
        Self::new(remote, file, cached.first_seen, modified, Some(cached.hashes.sha256), event).await
    }

    /// The row of a file that is arriving.
    pub(crate) async fn arriving(
        remote: &Remote,
        file: &'a File<'a>,
        arriving: &Arriving,
        event: &mut Event,
    ) -> Result<Self> {
        Self::new(remote, file, arriving.first_seen, arriving.modified, None, event).await
    }

    async fn new(
        remote: &Remote,
        file: &'a File<'a>,
        first_seen: Millis,
        modified: Option<Millis>,
        sha256: Option<Digest>,
        event: &mut Event,
    ) -> Result<Self> {
        let (now, repository) = (remote.now(), &remote.repository);
        let row = Self { file, first_seen, since: Since::FirstSeen(first_seen), undated: false };
        if !repository.view(now).finds_young(&row) {
            return Ok(row);
        }
        // The file may have been evicted, belong to a version that was seen before, or be older than its record here.
        let lasting = Ttl::of(repository, file).lasting();
        let before = event.runs_so_far();
        let known = FirstSeenStore::of(remote).known(file, sha256, lasting, event).await?;
        let met = known.dated(modified, now);
        let since = if met.since < first_seen { met.age() } else { row.since };
        // A date is requested once. After that it is known that there is none.
        let open = match known {
            KnownAge::Seen(AgeRecord { open, .. }) => open,
            KnownAge::Nothing => true,
            KnownAge::Appeared => false,
        };
        let undated = open && modified.is_none() && matches!(since, Since::FirstSeen(_));
        if since == row.since && !undated {
            event.was_vain_since(&before);
        }
        let row = Self { since, ..row };
        Ok(Self { undated: undated && repository.view(now).finds_young(&row), ..row })
    }

    /// Fetches the list of the file's artifact if it may have the date. Returns whether the age of the file may be
    /// another now.
    pub(crate) async fn look_for_date(&self, remote: &Remote, event: &mut Event) -> Result<bool> {
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
