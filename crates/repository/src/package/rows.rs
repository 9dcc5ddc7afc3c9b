//! A version of a package as one member of a repository has it.

use crate::package::published::{PublishedVersion, VersionName};
use crate::package::standing::{Gone, Standing};
use crate::repository::Repository;
use crate::visible::shown;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;
use store::EntryOrigin;
use telemetry::Millis;

/// A version as one member has it.
#[derive(Debug, Clone)]
pub struct VersionRow {
    /// Its spelling in URLs: `1.0`; of a gem for a platform `1.0-java`.
    pub version: String,
    /// Its number without a platform.
    pub number: String,
    /// Its platform, in formats that have platforms.
    pub platform: Option<String>,
    /// Whether clients get it.
    pub standing: Standing,
    /// When it was published here; of an upstream's version `None`.
    pub published: Option<Millis>,
    /// Its original publication elsewhere, as an upload claimed it.
    pub origin: Option<Box<EntryOrigin>>,
    /// Of an upstream's version: the date that its age counts from, if that is known.
    pub dated: Option<Millis>,
    /// Of an upstream's version: when this server first saw it.
    pub seen: Option<Millis>,
    /// Of an upstream's version: when its package was cached; `None`: it is not in the cache.
    pub cached: Option<Millis>,
    /// Its package's digest as an upstream states it, hexadecimal.
    pub stated_sha256: Option<String>,
    /// The repository that has it: the repository itself, or a member of the group.
    pub member: Arc<Repository>,
    /// Its publication here.
    pub(crate) publication: Option<Arc<PublishedVersion>>,
    /// Who published it here: the name of a token. Only the rows of the requested part have it.
    pub by: Option<String>,
}

/// A member of a group, and whether it answers for a package.
#[derive(Debug, Clone)]
pub struct PackageMember {
    /// The member as it is seen through the group.
    pub member: Arc<Repository>,
    /// Whether its versions are a part of the answer.
    pub answers: bool,
    /// Why not, or why its versions are not known.
    pub why: Option<String>,
}

/// All versions of a package.
#[derive(Debug, Clone, Default)]
pub struct PackageRows {
    /// The newest first, by the order of the format. One row for each version: the one that clients get, or else the first.
    pub rows: Vec<VersionRow>,
    /// The latest release that clients get; without one, the latest version.
    pub latest: Option<String>,
    /// Of a group: its members that have or may have the package.
    pub members: Vec<PackageMember>,
    /// Whether an upstream may have versions that are not known here.
    pub may_lack: bool,
}

impl VersionRow {
    /// A row without dates.
    pub(crate) fn new(version: &str, standing: Standing, member: &Arc<Repository>) -> Self {
        Self {
            version: version.to_owned(),
            number: version.to_owned(),
            platform: None,
            standing,
            published: None,
            origin: None,
            dated: None,
            seen: None,
            cached: None,
            stated_sha256: None,
            member: member.clone(),
            publication: None,
            by: None,
        }
    }

    /// A version that `member` published, as it is seen at `now`.
    pub(crate) fn published(version: &Arc<PublishedVersion>, member: &Arc<Repository>, now: Millis) -> Self {
        let gone = || match version.gone.get() {
            Some(None) => Standing::Later,
            Some(Some(why)) => Standing::Withdrawn { at: version.changed, why: *why },
            None => Standing::Withdrawn { at: version.changed, why: Gone::Deleted },
        };
        let standing = Standing::of(shown(&**version, member.view(now))).unwrap_or_else(gone);
        Self::standing(version, standing, member)
    }

    /// A version that `member` published, with this standing.
    pub(crate) fn standing(version: &Arc<PublishedVersion>, standing: Standing, member: &Arc<Repository>) -> Self {
        Self {
            number: version.number.clone(),
            platform: version.platform.clone(),
            published: Some(version.published),
            origin: version.origin.clone(),
            dated: version.dated,
            publication: Some(version.clone()),
            ..Self::new(&version.version, standing, member)
        }
    }

    fn name(&self) -> VersionName<'_> {
        VersionName { version: &self.version, number: &self.number, platform: self.platform.as_deref() }
    }
}

/// How many rows come before others of the same version.
fn rank(standing: &Standing) -> u8 {
    match standing {
        Standing::Visible(_) => 0,
        Standing::Unlisted => 1,
        Standing::Hidden(_) => 2,
        Standing::Withdrawn { .. } => 3,
        Standing::Later => 4,
        Standing::Shadowed(_) => 5,
    }
}

impl PackageRows {
    /// Keeps one row for each version: of the members in order the first that clients get, or else the first. `order` sorts versions,
    /// the newest first.
    pub(crate) fn settle(&mut self, order: impl Fn(VersionName<'_>, VersionName<'_>) -> Ordering) {
        // The sort is stable, so the members stay in order.
        self.rows.sort_by_key(|row| rank(&row.standing));
        let mut known = HashSet::with_capacity(self.rows.len());
        let firsts: Vec<bool> = self.rows.iter().map(|row| known.insert(row.version.as_str())).collect();
        let mut firsts = firsts.into_iter();
        self.rows.retain(|_| firsts.next().unwrap_or_default());
        self.rows.sort_by(|one, other| order(one.name(), other.name()));
    }
}
