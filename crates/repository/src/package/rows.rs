//! A version of a package as one member of a repository has it.

use crate::error::{Error, Result};
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
    /// Of an upstream's version: its publication as the upstream states it.
    pub stated: Option<Millis>,
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
    /// Its part of the answer.
    pub part: MemberPart,
    /// Why it has this part.
    pub why: Option<String>,
}

/// The part of a member in what a group tells about a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberPart {
    /// Its versions are a part of the answer.
    Answers,
    /// It has no version.
    HasNone,
    /// No version of it is known here, and its upstream may have some.
    Unknown,
    /// It has versions, and another member answers.
    Outranked,
    /// It is not asked for the name.
    NotAsked,
    /// Its versions could not be read.
    Failed,
}

/// The meaning of the latest version of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Latest {
    /// The latest release.
    #[default]
    Release,
    /// The latest version: there is no release.
    Version,
    /// The newest version that is known here. An upstream may have newer ones.
    Known,
    /// The same, from the cache.
    Cached,
}

/// All versions of a package.
#[derive(Debug, Clone, Default)]
pub struct PackageRows {
    /// The newest first, by the order of the format. One row for each version: the one that clients get, or else the first.
    pub rows: Vec<VersionRow>,
    /// The latest release that clients get; without one, the latest version.
    pub latest: Option<String>,
    /// The meaning of `latest`.
    pub latest_is: Latest,
    /// Of a group: its members that have or may have the package.
    pub members: Vec<PackageMember>,
    /// Whether an upstream may have versions that are not known here.
    pub may_lack: bool,
    /// Whether dates are not known here yet that may hide versions by a cooldown.
    pub undated: bool,
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
            stated: None,
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

impl PackageMember {
    /// A member that answers with the rows that were read of it.
    pub(crate) fn of_rows(member: &Arc<Repository>, rows: &Result<Vec<VersionRow>>) -> Self {
        let (part, why) = match rows {
            Ok(rows) if rows.is_empty() => (MemberPart::HasNone, None),
            Ok(_) => (MemberPart::Answers, None),
            Err(Error::Unasked) => (MemberPart::Unknown, Some(Error::Unasked.to_string())),
            Err(error) => (MemberPart::Failed, Some(error.to_string())),
        };
        Self { member: member.clone(), part, why }
    }
}

impl PackageRows {
    /// Sets the latest version, which is a release or, without one, is not.
    pub(crate) fn set_latest(&mut self, latest: Option<String>, is_release: bool) {
        let row = self.rows.iter().find(|row| Some(&row.version) == latest.as_ref());
        self.latest_is = match (self.may_lack, row.is_some_and(|row| row.cached.is_some()), is_release) {
            (true, true, _) => Latest::Cached,
            (true, false, _) => Latest::Known,
            (false, _, true) => Latest::Release,
            (false, _, false) => Latest::Version,
        };
        self.latest = latest;
    }

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
