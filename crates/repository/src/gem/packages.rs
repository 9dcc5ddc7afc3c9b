//! The versions of a gem for people who look at it: from the rows and the rules that `/info` is made from.

use crate::error::{Error, Result};
use crate::gem::group::GroupGems;
use crate::gem::group::members::KnownMembers;
use crate::gem::hosted::Hosted;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::view::{TokenRow, token_rows};
use crate::group::is_hosted;
use crate::package::listed::Among;
use crate::package::published::{PublishedPackage, PublishedVersion, VersionName};
use crate::package::rows::{MemberPart, PackageMember, PackageRows, VersionRow};
use crate::package::standing::{Gone, Shadowed, Standing};
use crate::question::Ask;
use crate::repository::Repository;
use crate::services::Services;
use crate::upstream::Remote;
use crate::visible::shown;
use format::gem::{Identity, Version, full_name};
use serde::Deserialize;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use store::{AuthoredChange, Entry, RepositoryId, RepositoryKind};
use telemetry::{Event, Millis};

/// The most cached files of one gem that are looked up, and how many are read at once.
const CACHED: usize = 5_000;
const PAGE: usize = 1_000;
/// The folder of packages.
const FOLDER: &str = "gems";

/// The versions of a gem. Of a group, its hosted members among these are read.
pub(crate) async fn rows(
    services: &Services,
    ask: &Ask<'_>,
    name: &str,
    among: Among<'_>,
    event: &mut Event,
) -> Result<PackageRows> {
    let local = Hosted::of(services, &ask.repository, &ask.settings);
    let mut package = match ask.repository.record.kind {
        RepositoryKind::Hosted => PackageRows {
            rows: hosted_gem_rows(services, &ask.repository, name, event).await?,
            ..PackageRows::default()
        },
        RepositoryKind::Remote => {
            let remote = services.remotes.remote(&ask.repository, &ask.place);
            match remote_rows(RemoteGems::of(&remote, local), name, event).await {
                Ok((rows, undated)) => PackageRows { rows, undated, ..PackageRows::default() },
                Err(Error::Unasked) => PackageRows { may_lack: true, ..PackageRows::default() },
                Err(error) => return Err(error),
            }
        }
        RepositoryKind::Group => GroupGems { services, ask, local, among }.package_rows(name, event).await?,
    };
    package.settle(newest_first);
    let (latest, is_release) = latest(&package.rows);
    package.set_latest(latest, is_release);
    Ok(package)
}

/// The row of a gem is its entry, which tells why it is gone.
pub(crate) async fn why_gone(_: &Services, _: &VersionRow, _: &mut Event) -> Result<Option<Gone>> {
    Ok(None)
}

/// The rows of a hosted gem. In a view of an earlier moment, the versions that came later are told too.
async fn hosted_gem_rows(
    services: &Services,
    repository: &Arc<Repository>,
    name: &str,
    event: &mut Event,
) -> Result<Vec<VersionRow>> {
    let now = services.clock.now();
    let known = published_gem(services, repository, name, event).await?;
    let mut rows: Vec<VersionRow> = known.iter().map(|one| VersionRow::published(one, repository, now)).collect();
    if repository.as_of.is_some() {
        let then: HashSet<&str> = known.iter().map(|one| one.change.name.as_str()).collect();
        let today = repository.seen(repository.rules.clone(), None);
        let today = published_gem(services, &today, name, event).await?;
        let later = today.iter().filter(|one| !then.contains(one.change.name.as_str()));
        rows.extend(later.map(|one| VersionRow::standing(one, Standing::Later, repository)));
    }
    Ok(rows)
}

async fn published_gem(
    services: &Services,
    repository: &Repository,
    name: &str,
    event: &mut Event,
) -> Result<PublishedPackage> {
    let read = async {
        let package = Arc::from(name);
        let entries = repository.unit(&services.store, name, event).await?;
        entries.into_iter().map(|entry| published(&package, entry, repository.id)).collect()
    };
    services.published(repository, name, newest_first, read).await
}

fn published(package: &Arc<str>, entry: Entry, repository: RepositoryId) -> Result<PublishedVersion> {
    let identity = Identity::deserialize(&entry.facts);
    let Identity { number, platform } =
        identity.map_err(|source| Error::Unreadable { key: entry.key.clone(), source })?;
    Ok(PublishedVersion {
        package: package.clone(),
        version: version_of(number.as_str(), &platform),
        number: number.as_str().to_owned(),
        platform: Some(platform),
        state: entry.state,
        published: entry.published,
        changed: entry.changed,
        gone: Gone::of(&entry).into(),
        origin: entry.origin,
        dated: None,
        hashes: Some(entry.hashes),
        change: AuthoredChange { repository, name: entry.key, is_entry: true, at: entry.published },
        by: OnceLock::new(),
    })
}

/// `1.0`, and `1.0-java` for a platform.
fn version_of(number: &str, platform: &str) -> String {
    full_name("", number, platform).trim_start_matches('-').to_owned()
}

/// The rows of an upstream's gem, from its cached `/info`; without one, from its index. And whether `/info` may have dates
/// that hide some of them.
async fn remote_rows(gems: RemoteGems<'_>, name: &str, event: &mut Event) -> Result<(Vec<VersionRow>, bool)> {
    gems.ready(event).await?;
    let (repository, now, end) = (&gems.remote.repository, gems.now(), gems.end()?);
    let view = repository.view(now);
    let told = gems.whole_info(name, event).await.ok();
    let listed = gems.known(|known| known.listing.gem_by(name, end))?.unwrap_or_default();
    let seen: HashMap<&str, Millis> = listed.versions.iter().map(|one| (one.token.as_str(), one.seen)).collect();
    let mut rows = Vec::new();
    match &told {
        Some(info) => {
            for row in &info.rows {
                let Some(standing) = Standing::of(shown(row, view)) else { continue };
                let seen = seen.get(row.token.as_str()).copied();
                let stated_sha256 = row.checksum.as_ref().map(ToString::to_string);
                let stated = row.created_at.map(|seconds| Millis(seconds.saturating_mul(1000)));
                let version = listed_row(&row.token, row.moment(), seen, standing, repository);
                rows.push(VersionRow { stated, stated_sha256, ..version });
            }
        }
        None => {
            for row in token_rows(name, &listed) {
                let Some(standing) = Standing::of(shown(&row, view)) else { continue };
                rows.push(listed_row(row.token, row.since, seen.get(row.token).copied(), standing, repository));
            }
        }
    }
    if repository.as_of.is_some() {
        let then: HashSet<String> = rows.iter().map(|row| row.version.clone()).collect();
        for later in gems.gem_now(name).unwrap_or_default().versions {
            if !then.contains(&later.token) && !listed.has(&later.token) {
                rows.push(listed_row(&later.token, later.since, Some(later.seen), Standing::Later, repository));
            }
        }
    }
    let cached = cached(gems.remote, name, event).await?;
    for row in &mut rows {
        row.cached = cached.get(&row.version).copied();
    }
    let in_doubt = |row: &TokenRow<'_>, version| !view.finds_young(row) && view.finds_young(&row.proven(version));
    let undated =
        told.is_none() && token_rows(name, &listed).iter().zip(&listed.versions).any(|(row, of)| in_doubt(row, of));
    Ok((rows, undated))
}

fn listed_row(
    token: &str,
    since: Millis,
    seen: Option<Millis>,
    standing: Standing,
    member: &Arc<Repository>,
) -> VersionRow {
    let (number, platform) = token.split_once('-').unwrap_or((token, "ruby"));
    VersionRow {
        number: number.to_owned(),
        platform: Some(platform.to_owned()),
        dated: Some(since).filter(|since| since.0 > 0 && seen.is_none_or(|seen| *since < seen)),
        seen,
        ..VersionRow::new(token, standing, member)
    }
}

/// The cached packages of a gem: the version, and since when it is cached.
async fn cached(remote: &Remote, name: &str, event: &mut Event) -> Result<HashMap<String, Millis>> {
    let prefix = format!("{FOLDER}/{name}-");
    let (mut found, mut after) = (HashMap::new(), String::new());
    for _ in 0..CACHED / PAGE {
        let files = remote.remotes.store.cached_files(remote.repository.origin, &prefix, &after, PAGE, event).await?;
        let full = files.len() == PAGE;
        if let Some((last, _)) = files.last() {
            after.clone_from(last);
        }
        found.extend(files.iter().filter_map(|(path, file)| {
            Some((path.strip_prefix(&prefix)?.strip_suffix(".gem")?.to_owned(), file.fetched))
        }));
        if !full {
            break;
        }
    }
    Ok(found)
}

impl GroupGems<'_> {
    /// The rows of the members that answer for a name, and of the others that have it.
    async fn package_rows(self, name: &str, event: &mut Event) -> Result<PackageRows> {
        let mut package = PackageRows::default();
        let sure = self.owners(name, event).await;
        let members = KnownMembers::of_names(self, [name], event).await?;
        let owners = match sure {
            Ok(owners) => owners,
            // A member whose index was never requested may have the name.
            Err(Error::Unasked) => members.owners(name),
            Err(error) => return Err(error),
        };
        for place in &owners {
            let leaf = &self.leaves()[*place];
            let rows = self.member_rows(leaf, name, event).await.map(|(rows, undated)| {
                package.undated |= undated;
                rows
            });
            package.may_lack |= matches!(rows, Err(Error::Unasked));
            package.members.push(PackageMember::of_rows(leaf, &rows));
            package.rows.extend(rows.unwrap_or_default());
        }
        let group = &self.local.repository.record.name;
        for holder in members.holders(name).iter().filter(|holder| !owners.contains(&holder.place)) {
            let leaf = &self.leaves()[holder.place];
            let why = self.why_not(name, holder, &members, &owners);
            let hint = Some(format!(
                "`daylight repo set {group} --shared {name}` has this member answer for the versions that the others lack"
            ));
            let (mut rows, _) = self.member_rows(leaf, name, event).await.unwrap_or_default();
            for row in &mut rows {
                row.standing = Standing::Shadowed(Box::new(Shadowed { why: why.clone(), hint: hint.clone() }));
            }
            package.rows.extend(rows);
            package.members.push(PackageMember { member: leaf.clone(), part: MemberPart::Outranked, why: Some(why) });
        }
        for leaf in self.leaves() {
            let is_unknown = self.follower(leaf).is_some_and(|follower| !follower.is_known());
            if is_unknown && !package.members.iter().any(|one| one.member.id == leaf.id) {
                package.may_lack = true;
                let why = Some("no client has requested the index of its upstream yet".to_owned());
                package.members.push(PackageMember { member: leaf.clone(), part: MemberPart::Unknown, why });
            }
        }
        Ok(package)
    }

    async fn member_rows(
        self,
        leaf: &Arc<Repository>,
        name: &str,
        event: &mut Event,
    ) -> Result<(Vec<VersionRow>, bool)> {
        if !is_hosted(leaf) && Self::is_unset(leaf) {
            return Ok((Vec::new(), false));
        }
        match self.member(leaf).upstream() {
            None => Ok((hosted_gem_rows(self.services, leaf, name, event).await?, false)),
            Some(remote) => remote_rows(remote, name, event).await,
        }
    }
}

/// The order of a list: the highest number first, then by platform, `ruby` first.
fn newest_first(one: VersionName<'_>, other: VersionName<'_>) -> Ordering {
    let number = |name: VersionName<'_>| Version::parse(name.number).ok();
    let by_number = number(other).cmp(&number(one)).then_with(|| other.number.cmp(one.number));
    let [first, second] = [one, other].map(|name| name.platform.filter(|platform| *platform != "ruby"));
    by_number.then_with(|| first.cmp(&second)).then_with(|| one.version.cmp(other.version))
}

/// The first release that clients get, in a list with the newest first; without one, the first version. And whether it is a release.
fn latest(rows: &[VersionRow]) -> (Option<String>, bool) {
    let visible = || rows.iter().filter(|row| row.standing.is_visible());
    let is_release = |row: &&VersionRow| Version::parse(&row.number).is_ok_and(|number| !number.prerelease());
    let release = visible().find(is_release);
    (release.or_else(|| visible().next()).map(|row| row.version.clone()), release.is_some())
}
