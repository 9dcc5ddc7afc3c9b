//! The versions that hosted repositories published, in memory: what their rows tell before any policy applies.
//!
//! The rows of a package are read once after each change of it. Rules are applied at each use, so one entry serves the repository and all
//! groups above it, under any policy. Views of earlier moments are never kept.

use crate::format::Format;
use crate::format::rules::Coordinates;
use crate::index::name_key::{NameKey, NameKeyRef};
use crate::index::stamped_cache::{Stamped, StampedCache};
use crate::package::standing::Gone;
use crate::policy::package_version::{PackageVersion, Since};
use crate::visible::Row;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use store::{AuthoredChange, EntryOrigin, Hashes, RepositoryId, Stamp, State};
use telemetry::{Bound, BoundName, Millis};

/// The memory of an allocation beside its content, and of the name of an author, in bytes.
const ALLOCATION: usize = 16;
const AUTHOR: usize = 128;

/// The name of a version in the parts that it is sorted by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VersionName<'a> {
    pub(crate) version: &'a str,
    pub(crate) number: &'a str,
    pub(crate) platform: Option<&'a str>,
}

/// A version that a hosted repository published.
#[derive(Debug)]
pub(crate) struct PublishedVersion {
    /// The package in the syntax of policies.
    pub(crate) package: Arc<str>,
    /// Its spelling in URLs.
    pub(crate) version: String,
    /// Its number in the syntax of policies.
    pub(crate) number: String,
    pub(crate) platform: Option<String>,
    pub(crate) state: State,
    pub(crate) published: Millis,
    pub(crate) changed: Millis,
    /// Why it is not published any more; `None`: it is, or will be. In formats whose versions have several files, it is looked up later.
    pub(crate) gone: OnceLock<Option<Gone>>,
    /// Its original publication elsewhere, as an upload claimed it.
    pub(crate) origin: Option<Box<EntryOrigin>>,
    /// The date of that publication, in formats whose versions have no claim of their own.
    pub(crate) dated: Option<Millis>,
    /// The digests of its one file, in formats whose versions have one.
    pub(crate) hashes: Option<Hashes>,
    /// The change that published it.
    pub(crate) change: AuthoredChange,
    /// Who made that change, after it was looked up.
    pub(crate) by: OnceLock<Option<String>>,
}

/// All versions of a package, the newest first.
pub(crate) type PublishedPackage = Vec<Arc<PublishedVersion>>;

type PackageCache = StampedCache<NameKey<RepositoryId>, PublishedPackage>;

/// The versions of packages in memory, limited in bytes. The least used packages are evicted first.
#[derive(Debug)]
pub(crate) struct PublishedPackages(PackageCache);

impl PublishedPackages {
    /// An estimate for the size of the table: a package with eight versions, in bytes.
    const TYPICAL: u64 = 8 << 10;

    /// An empty cache of at most this number of bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let packages = usize::try_from(bytes / Self::TYPICAL).unwrap_or(usize::MAX);
        // One large package may take the whole bound.
        Self(PackageCache::in_one_shard(Bound::new(BoundName::Packages, "", bytes), packages, weigh))
    }

    /// The bound of the cache.
    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.0.bound()
    }

    /// The versions of a package, if their stamp `holds`. `unit` is raised by each change of the package.
    pub(crate) fn find(
        &self,
        repository: RepositoryId,
        unit: &str,
        holds: impl FnOnce(&Stamp) -> bool,
    ) -> Option<PublishedPackage> {
        let key = NameKeyRef { within: repository, name: unit };
        self.0.find(&key, holds).map(|kept| kept.value.clone())
    }

    /// Stores the present versions of a package. `stamp` was taken before they were read.
    pub(crate) fn keep(&self, repository: RepositoryId, unit: &str, package: PublishedPackage, stamp: Stamp) {
        self.0.keep(NameKey::new(repository, unit), package, stamp);
    }
}

fn weigh(key: &NameKey<RepositoryId>, package: &Stamped<PublishedPackage>) -> u64 {
    let rows: usize = package.value.iter().map(|row| row.weight()).sum();
    (PackageCache::ENTRY + key.name.len() + rows) as u64
}

impl PublishedVersion {
    fn weight(&self) -> usize {
        let hashes = self.hashes.as_ref();
        let hashes = hashes.map_or(0, |hashes| {
            let more = [&hashes.sha512, &hashes.md5].into_iter().flatten().map(String::len).sum::<usize>();
            hashes.sha1.len() + more
        });
        let origin = self.origin.as_ref().map_or(0, |origin| {
            size_of::<EntryOrigin>() + origin.by.as_ref().map_or(0, String::len) + origin.claimed_by.len()
        });
        let names = [&self.version, &self.number, &self.change.name].map(String::len).into_iter().sum::<usize>();
        let platform = self.platform.as_ref().map_or(0, String::len);
        size_of::<Self>() + size_of::<Arc<Self>>() + hashes + origin + names + platform + AUTHOR + 12 * ALLOCATION
    }

    /// Its name for sorting.
    pub(crate) fn name(&self) -> VersionName<'_> {
        VersionName { version: &self.version, number: &self.number, platform: self.platform.as_deref() }
    }
}

impl Row for PublishedVersion {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (self.state, self.published, self.changed)
    }

    fn coordinates(&self, format: Format) -> Option<PackageVersion<'_>> {
        let first = self.origin.as_ref().map(|origin| origin.at).or(self.dated).unwrap_or(self.published);
        let names = Coordinates { package: Cow::Borrowed(&self.package), version: Cow::Borrowed(&self.number) };
        Some(PackageVersion::new(format, names, Since::Moment(first)))
    }
}
