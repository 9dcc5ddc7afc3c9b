//! The versions of an artifact for people who look at it: from the rows and the rules that `maven-metadata.xml` is made from.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::group::is_hosted;
use crate::group::not_found::NotFound;
use crate::maven::listing::{self, Version as Listed};
use crate::maven::upstream::filtered_metadata::dated_versions;
use crate::package::listed::Among;
use crate::package::published::{PublishedPackage, PublishedVersion, VersionName};
use crate::package::rows::{MemberPart, PackageMember, PackageRows, VersionRow};
use crate::package::standing::{Gone, Shadowed, Standing};
use crate::question::Ask;
use crate::repository::Repository;
use crate::services::Services;
use crate::upstream::refused;
use crate::upstream::row::OfUpstream;
use crate::visible::{Row, shown};
use format::maven::metadata;
use format::maven::{Version, path};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use store::{AuthoredChange, RepositoryId, RepositoryKind, State};
use telemetry::{Event, Millis};

/// The most cached files of one artifact that are looked at, and how many are read at once.
const CACHED: usize = 10_000;
const PAGE: usize = 1_000;
/// Files of a withdrawn version that are looked at.
const FILES: usize = 8;

/// The folder of `G:A`; `None`: the text names no artifact.
pub(crate) fn folder_of(package: &str) -> Option<String> {
    let (group, artifact) = package.split_once(':')?;
    let odd = |text: &str| text.is_empty() || text.contains(['/', ':']);
    let folder = format!("{}/{artifact}", group.replace('.', "/"));
    (!odd(group) && !odd(artifact) && format::tree::check(&folder).is_ok()).then_some(folder)
}

/// The versions of the artifact `G:A`. Of a group, the members among these are read.
pub(crate) async fn rows(
    services: &Services,
    ask: &Ask<'_>,
    package: &str,
    among: Among<'_>,
    event: &mut Event,
) -> Result<PackageRows> {
    let Some(folder) = folder_of(package) else { return Ok(PackageRows::default()) };
    let mut found = match ask.repository.record.kind {
        RepositoryKind::Hosted => {
            let rows = listed_rows(services, &ask.repository, &folder, event).await?;
            PackageRows { rows, ..PackageRows::default() }
        }
        RepositoryKind::Remote => {
            let document = format!("{folder}/{METADATA}");
            if let Some(why) = refused::never_asked(&ask.repository, &ask.repository.file(&document)) {
                return Err(why);
            }
            let (rows, may_lack) = upstream_rows(services, ask, &ask.repository, &folder, event).await?;
            PackageRows { rows, may_lack, ..PackageRows::default() }
        }
        RepositoryKind::Group => grouped_rows(services, ask, &folder, among, event).await?,
    };
    found.settle(newest_first);
    let visible = found.rows.iter().filter(|row| row.standing.is_visible()).map(|row| row.version.as_str());
    let listed = metadata::versions("", "", visible, 0);
    let is_release = listed.release.is_some();
    found.set_latest(listed.release.or(listed.latest), is_release);
    Ok(found)
}

/// The rows of a hosted repository. In a view of an earlier moment, the versions that came later are told too.
async fn listed_rows(
    services: &Services,
    repository: &Arc<Repository>,
    folder: &str,
    event: &mut Event,
) -> Result<Vec<VersionRow>> {
    let now = services.clock.now();
    let known = published_artifact(services, repository, folder, event).await?;
    let mut rows: Vec<VersionRow> = known.iter().map(|one| VersionRow::published(one, repository, now)).collect();
    if repository.as_of.is_some() {
        let then: HashSet<&str> = known.iter().map(|one| one.version.as_str()).collect();
        let today = Arc::new(repository.seen(repository.rules.clone(), None));
        let today = published_artifact(services, &today, folder, event).await?;
        let live = |one: &&Arc<PublishedVersion>| one.lifecycle().0 == State::Live;
        let later = today.iter().filter(live).filter(|one| !then.contains(one.version.as_str()));
        rows.extend(later.map(|one| VersionRow::standing(one, Standing::Later, repository)));
    }
    Ok(rows)
}

async fn published_artifact(
    services: &Services,
    repository: &Arc<Repository>,
    folder: &str,
    event: &mut Event,
) -> Result<PublishedPackage> {
    let read = async {
        let listed = listing::read::<Listed>(services.tree(repository), folder, event).await?;
        Ok(listed.iter().filter_map(|row| published(row, folder, repository.id)).collect())
    };
    services.published(repository, folder, newest_first, read).await
}

/// The rows of an upstream: from its cached metadata, and from cached files. And whether the upstream may have others.
async fn upstream_rows(
    services: &Services,
    ask: &Ask<'_>,
    repository: &Arc<Repository>,
    folder: &str,
    event: &mut Event,
) -> Result<(Vec<VersionRow>, bool)> {
    let remote = services.remotes.remote(repository, &ask.place);
    let view = repository.view(services.clock.now());
    let (listed, has_none) = match dated_versions(&remote, folder, event).await {
        Ok(listed) => (Some(listed), false),
        Err(Error::Unasked | Error::Upstream(_) | Error::FirstSeenFull(_)) => (None, false),
        Err(error) if error.is_absence() => (None, true),
        Err(error) => return Err(error),
    };
    let (may_lack, list_is_known) = (listed.is_none(), listed.is_some() || has_none);
    let mut rows: Vec<VersionRow> = Vec::new();
    for version in listed.into_iter().flatten() {
        let Some(standing) = Standing::of(shown(&version, view)) else { continue };
        let dated = Some(version.age.since).filter(|since| *since < version.age.seen);
        let seen = Some(version.age.seen);
        let row = VersionRow::new(&version.version, standing, repository);
        rows.push(VersionRow { stated: dated, dated, seen, ..row });
    }
    let (above, artifact) = folder.rsplit_once('/').unwrap_or(("", folder));
    let (prefix, mut after) = (format!("{folder}/"), String::new());
    let known: HashSet<String> = rows.iter().map(|row| row.version.clone()).collect();
    let mut cached: HashMap<String, Millis> = HashMap::new();
    for _ in 0..CACHED / PAGE {
        let files = services.store.cached_files(repository.origin, &prefix, &after, PAGE, event).await?;
        for (at, file) in &files {
            let Some((group, name, version)) = path::version_of(at) else { continue };
            if group != above || name != artifact {
                continue;
            }
            // The map of a Koji hub has all versions, and files of others stay in the cache.
            let may_be_new = repository.as_of.is_none() && !repository.is_koji();
            if may_be_new && !known.contains(version) && !cached.contains_key(version) {
                let read = repository.file(at);
                let row = OfUpstream::kept(&remote, &read, file, event).await?;
                let seen = Some(file.first_seen);
                let standing = Standing::of(shown(&row, view));
                let standing = standing.map(|standing| if list_is_known { standing.without_list() } else { standing });
                rows.extend(
                    standing.map(|standing| VersionRow { seen, ..VersionRow::new(version, standing, repository) }),
                );
            }
            let first = cached.entry(version.to_owned()).or_insert(file.fetched);
            *first = (*first).min(file.fetched);
        }
        match files.last() {
            Some((last, _)) if files.len() == PAGE => after.clone_from(last),
            _ => break,
        }
    }
    for row in &mut rows {
        row.cached = cached.get(&row.version).copied();
    }
    Ok((rows, may_lack))
}

/// The rows of the members of a group. Upstreams do not answer for an artifact that a hosted member has or had.
async fn grouped_rows(
    services: &Services,
    ask: &Ask<'_>,
    folder: &str,
    among: Among<'_>,
    event: &mut Event,
) -> Result<PackageRows> {
    let (group, document) = (services.group(&ask.repository, &ask.place), format!("{folder}/{METADATA}"));
    let file = ask.repository.file(&document);
    let guard = group.guard(&file, services.clock.now(), event).await?;
    let mut found = PackageRows::default();
    for leaf in group.hosted().chain(group.remote()).filter(|leaf| among.may_be(leaf)) {
        if is_hosted(leaf) {
            let rows = listed_rows(services, leaf, folder, event).await?;
            if !rows.is_empty() {
                found.members.push(PackageMember { member: leaf.clone(), part: MemberPart::Answers, why: None });
            }
            found.rows.extend(rows);
            continue;
        }
        if let Some(why) = refused::never_asked(leaf, &file) {
            let why = Some(why.to_string());
            found.members.push(PackageMember { member: leaf.clone(), part: MemberPart::NotAsked, why });
            continue;
        }
        let (mut rows, may_lack) = upstream_rows(services, ask, leaf, folder, event).await?;
        if guard.blocks(leaf) {
            let nothing = NotFound { guarded: guard.for_clients(group), ..NotFound::default() };
            let error = nothing.error(&document);
            let why = guard.blocked_record(leaf).detail;
            for row in &mut rows {
                let (why, hint) = (why.clone(), error.hint());
                row.standing = Standing::Shadowed(Box::new(Shadowed { why, hint }));
            }
            let part = if rows.is_empty() { MemberPart::NotAsked } else { MemberPart::Outranked };
            found.members.push(PackageMember { member: leaf.clone(), part, why: Some(why) });
            found.rows.extend(rows);
            continue;
        }
        found.may_lack |= may_lack;
        if may_lack || !rows.is_empty() {
            let why = may_lack.then(|| "the list of its upstream is not in the cache".to_owned());
            let part = if rows.is_empty() { MemberPart::Unknown } else { MemberPart::Answers };
            found.members.push(PackageMember { member: leaf.clone(), part, why });
        }
        found.rows.extend(rows);
    }
    Ok(found)
}

/// Why a withdrawn version is not published any more: from the last of its first files that was withdrawn.
pub(crate) async fn why_gone(services: &Services, row: &VersionRow, event: &mut Event) -> Result<Option<Gone>> {
    let Some(published) = &row.publication else { return Ok(None) };
    let Some((folder, version)) = listing::version_of(&published.change.name) else { return Ok(None) };
    let files = row.member.beginning(&services.store, &format!("{folder}/{version}/"), FILES, event).await?;
    let last = files.iter().filter(|file| file.state != State::Live).max_by_key(|file| file.changed);
    Ok(last.and_then(Gone::of).or(Some(Gone::Deleted)))
}

/// The name of the document that lists versions.
const METADATA: &str = "maven-metadata.xml";

/// `None`: the folder is not that of an artifact.
fn published(row: &listing::ListingRow<Listed>, folder: &str, repository: RepositoryId) -> Option<PublishedVersion> {
    let (state, published, changed) = row.lifecycle();
    let package = row.coordinates(Format::Maven)?.package.into();
    let change = AuthoredChange { repository, name: listing::unit(folder, &row.what), is_entry: false, at: published };
    Some(PublishedVersion {
        package,
        version: row.what.version.clone(),
        number: row.what.version.clone(),
        platform: None,
        state,
        published,
        changed,
        gone: OnceLock::new(),
        origin: None,
        dated: row.origin(),
        hashes: None,
        change,
        by: OnceLock::new(),
    })
}

/// The order of a list: the highest version first.
fn newest_first(one: VersionName<'_>, other: VersionName<'_>) -> Ordering {
    let order = Version::new(other.version).cmp(&Version::new(one.version));
    order.then_with(|| other.version.cmp(one.version))
}
