//! Metadata of an upstream without the versions that a policy hides.

use crate::content::Content;
use crate::content::{rows_of, soonest};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::maven::koji::{self, KojiVersion};
use crate::maven::layout::MavenPath;
use crate::maven::upstream::{observed, pom_dates};
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::View;
use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::fetch::file;
use crate::upstream::first_seen::history::FolderHistory;
use crate::upstream::first_seen::record;
use crate::upstream::first_seen::store::FirstSeenStore;
use crate::upstream::release_age::{AgeRecord, KnownAge};
use crate::upstream::trace::FetchTrace;
use crate::visible::Row;
use crate::workers::aside;
use format::maven::metadata::{self, Metadata, Plugin, Snapshot};
use format::maven::path;
use format::maven::snapshot::Build;
use std::collections::{BTreeMap, HashSet};
use store::{Lane, State};
use telemetry::{Event, Millis, Op};

impl MavenPath<'_> {
    /// Returns the metadata at a path, or its checksum, without the versions that the policy hides.
    pub(crate) async fn filtered(
        &self,
        remote: &Remote,
        asked: &File<'_>,
        trace: &mut FetchTrace,
        event: &mut Event,
    ) -> Result<Content> {
        let (of, checksum) = match asked.checksum() {
            Some((of, checksum)) => (of, Some(checksum)),
            None => (*asked, None),
        };
        let content = file(remote, &of, trace, event).await?;
        let content = filtered(remote, self, content, trace, event).await?;
        let Some(checksum) = checksum else { return Ok(content) };
        let sum = content.sum(checksum, remote.late_digests(), event).await?;
        sum.ok_or_else(|| Error::NoSuchFile(asked.path.to_owned()))
    }
}

async fn filtered(
    remote: &Remote,
    path: &MavenPath<'_>,
    content: Content,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    let Some(at) = path.metadata() else { return Ok(content) };
    let before = event.runs_so_far();
    let document = read(remote, &content, event).await?;
    let (seen, until) = match at.snapshot() {
        Some(of) => built(remote, at.folder, of, &document, content.modified, event).await?,
        None => listed(remote, at.folder, &document, content.modified, trace, event).await?,
    };
    let fresh_until = soonest(content.fresh_until, until);
    if seen == document {
        if until.is_none() {
            event.was_vain_since(&before);
        }
        return Ok(Content { fresh_until, ..content });
    }
    let Content { hashes, source, .. } = Content::text(seen.render(), content.media);
    Ok(Content { hashes, source, modified: None, fresh_until, ..content })
}

/// Parses a document.
pub(crate) async fn read(remote: &Remote, content: &Content, event: &mut Event) -> Result<Metadata> {
    let rows = rows_of(content.hashes.as_ref().map_or(0, |hashes| hashes.size_bytes));
    let content = content.clone();
    // It was parsed when it arrived.
    let read = move || content.bytes().and_then(|bytes| Metadata::read(&bytes).ok()).ok_or(Error::GivenUp);
    aside(&remote.remotes.workers, Lane::Index, Op::PackageRead, rows, event, read).await
}

/// The known ages of the versions in a document.
struct VersionAges {
    /// Without its versions, which are in a field of their own.
    folder: FolderHistory,
    met: BTreeMap<String, AgeRecord>,
}

impl VersionAges {
    /// New facts of the document are recorded first: a version that the document gains later is new then.
    async fn of(
        remote: &Remote,
        folder: &str,
        document: &Metadata,
        modified: Option<Millis>,
        event: &mut Event,
    ) -> Result<Self> {
        let (sightings, sights) = (FirstSeenStore::of(remote), observed::of_document(folder, document, modified));
        let told = sights.first().map(|here| here.versions.clone()).unwrap_or_default();
        let misses = |known: &Option<FolderHistory>| {
            told.iter().any(|(version, _)| !known.as_ref().is_some_and(|known| known.versions.contains_key(version)))
        };
        let mut known = sightings.folder(folder, event).await?;
        if remote.repository.asks && misses(&known) {
            record::sights(remote, sights, event).await?;
            known = sightings.folder(folder, event).await?;
        }
        let unmet = match misses(&known) {
            true => sightings.unmet(known.as_ref(), event).await?,
            false => KnownAge::Nothing,
        };
        let mut folder = known.unwrap_or_default();
        let mut met = std::mem::take(&mut folder.versions);
        for (version, told) in told {
            met.entry(version).or_insert_with(|| unmet.told(told, remote.now()));
        }
        Ok(Self { folder, met })
    }

    fn since(&self, version: &str) -> Since {
        self.met.get(version).map_or(Since::Unknown, |met| met.age())
    }
}

/// A version in an upstream's list, as the input of a policy.
pub(crate) struct DatedVersion {
    folder: String,
    pub(crate) version: String,
    pub(crate) age: AgeRecord,
}

impl Row for DatedVersion {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (State::Live, self.age.seen, self.age.seen)
    }

    fn coordinates(&self, _: Format) -> Option<PackageVersion<'_>> {
        let (group, artifact) = self.folder.rsplit_once('/')?;
        Some(PackageVersion::maven(group, artifact, &self.version, self.age.age()).upstream())
    }
}

/// The versions in the metadata of an artifact's folder, each with its age: now, or as of a moment.
pub(crate) async fn dated_versions(remote: &Remote, folder: &str, event: &mut Event) -> Result<Vec<DatedVersion>> {
    if remote.repository.is_koji() {
        let dated = |KojiVersion { artifact_folder: folder, version, age, .. }| DatedVersion { folder, version, age };
        return Ok(koji::versions(remote, folder, event).await?.into_iter().map(dated).collect());
    }
    let (versions, mut ages) = match remote.repository.as_of {
        Some(past) => {
            let known = FirstSeenStore::of(remote).through(past.through).folder(folder, event).await?;
            let known = known.filter(|folder| folder.listed).ok_or_else(|| Error::NoSuchFile(folder.to_owned()))?;
            (known.versions.keys().cloned().collect(), known.versions)
        }
        None => {
            let path = format!("{folder}/maven-metadata.xml");
            let asked = remote.repository.file(&path);
            let content = file(remote, &asked, &mut FetchTrace::default(), event).await?;
            let document = read(remote, &content, event).await?;
            let ages = VersionAges::of(remote, folder, &document, content.modified, event).await?;
            (document.versions, ages.met)
        }
    };
    let mut known = HashSet::new();
    let dated = |version: String| {
        let age = ages.remove(&version).filter(|_| known.insert(version.clone()))?;
        Some(DatedVersion { folder: folder.to_owned(), version, age })
    };
    Ok(versions.into_iter().filter_map(dated).collect())
}

/// The visible builds of a snapshot. A file without a build in its name is as old as its bytes, and the policy applies
/// when it is requested.
async fn built(
    remote: &Remote,
    folder: &str,
    (group, artifact, version): (&str, &str, &str),
    document: &Metadata,
    modified: Option<Millis>,
    event: &mut Event,
) -> Result<(Metadata, Option<Millis>)> {
    let ages = VersionAges::of(remote, folder, document, modified, event).await?;
    let view = remote.repository.view(remote.now());
    let mut until = None::<Millis>;
    let mut hides = |build: Option<String>| {
        let since = build.map_or(Since::Always, |build| ages.since(&build));
        let (named, rules) = (PackageVersion::maven(group, artifact, version, since).upstream(), view.rules);
        until = soonest(until, rules.next_change(&named, view));
        rules.hides(&named, view).is_some()
    };
    let mut seen = document.clone();
    seen.files.retain(|file| !hides(Build::trailing(&file.value).map(|build| build.to_string())));
    if document.files.is_empty() {
        seen.snapshot = seen.snapshot.filter(|snapshot| !hides(observed::build(snapshot)));
    } else if seen.files.len() < document.files.len() {
        let newest = seen.files.iter().filter_map(|file| Build::trailing(&file.value)).max();
        let snapshot = |build: Build<'_>| Snapshot {
            timestamp: Some(build.timestamp.to_owned()),
            number: build.number,
            local: false,
        };
        seen.snapshot = newest.map(snapshot);
    }
    if seen != *document {
        seen.updated = seen.files.iter().filter_map(|file| file.updated.clone()).max();
    }
    Ok((seen, until))
}

/// The visible versions of an artifact, and the visible plugins of a group.
async fn listed(
    remote: &Remote,
    folder: &str,
    document: &Metadata,
    modified: Option<Millis>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<(Metadata, Option<Millis>)> {
    let (group, artifact) = folder.rsplit_once('/').unwrap_or(("", folder));
    let view = remote.repository.view(remote.now());
    let named = |version, since| PackageVersion::maven(group, artifact, version, since).upstream();
    let hides = |version, since| view.rules.hides(&named(version, since), view).is_some();
    let told = [&document.latest, &document.release].into_iter().flatten();
    let all: Vec<&str> = document.versions.iter().chain(told).map(String::as_str).collect();
    let by_age = all.iter().copied().filter(|one| !hides(*one, Since::Always) && hides(*one, Since::Unknown));
    let young: Vec<&str> = by_age.collect();
    let (ages, again) = match young.is_empty() {
        true => (None, None),
        false => {
            let (ages, again) = looked(remote, folder, document, modified, &young, event).await?;
            (Some(ages), again)
        }
    };
    // Without a cooldown no ages are needed.
    let since = |version: &str| ages.as_ref().map_or(Since::Always, |ages| ages.since(version));
    let turns = all.iter().filter_map(|version| view.rules.next_change(&named(version, since(version)), view)).min();
    let until = soonest(turns, again);

    let hidden: HashSet<&str> = all.iter().copied().filter(|version| hides(version, since(version))).collect();
    let mut seen = document.clone();
    seen.versions.retain(|version| !hidden.contains(version.as_str()));
    hide_plugins(&mut seen.plugins, folder, view);
    if !hidden.is_empty() {
        let left_out: Vec<&str> =
            all[..document.versions.len()].iter().copied().filter(|one| hidden.contains(one)).collect();
        let why = |version: &str| {
            let named = PackageVersion::maven(group, artifact, version, since(version)).upstream();
            view.rules.hides(&named, view)
        };
        let left_out: Vec<Hidden> = left_out.into_iter().filter_map(why).collect();
        trace.left_out = Some(Hidden::describe(document.versions.len(), &left_out));
        let made = metadata::versions("", "", seen.versions.iter().map(String::as_str), 0);
        (seen.latest, seen.release, seen.updated) = (made.latest, made.release, None);
    }
    Ok((seen, until))
}

/// Removes the plugins of a group that the policy hides.
pub(crate) fn hide_plugins(plugins: &mut Vec<Plugin>, folder: &str, view: View<'_>) {
    let named = |artifact: &str| PackageVersion::maven(folder, artifact, "", Since::Always).upstream();
    plugins.retain(|plugin| view.rules.hides(&named(&plugin.artifact), view).is_none());
}

/// The ages of a document's versions. If versions are hidden because their ages are unknown, and their POMs may have
/// dates, the POMs are requested when it is the folder's turn. Otherwise the time of that turn is recorded.
async fn looked(
    remote: &Remote,
    folder: &str,
    document: &Metadata,
    modified: Option<Millis>,
    versions: &[&str],
    event: &mut Event,
) -> Result<(VersionAges, Option<Millis>)> {
    let view = remote.repository.view(remote.now());
    let (group, artifact) = folder.rsplit_once('/').unwrap_or(("", folder));
    let open = |ages: &VersionAges| -> Vec<&str> {
        let hides = |version: &str| {
            let named = PackageVersion::maven(group, artifact, version, ages.since(version)).upstream();
            view.rules.hides(&named, view).is_some()
        };
        let told = |version: &str| path::is_snapshot(version) || ages.met.get(version).is_none_or(|met| !met.open);
        versions.iter().copied().filter(|version| !told(version) && hides(version)).collect()
    };
    let mut ages = VersionAges::of(remote, folder, document, modified, event).await?;
    let some = open(&ages);
    let turn = !some.is_empty() && remote.repository.asks && ages.folder.next_turn(remote.now()).is_none();
    // Dates from POMs must be recorded; otherwise the POMs would be requested again and again.
    if turn && !FirstSeenStore::of(remote).is_full(event).await? {
        pom_dates::look(remote, folder, &ages.folder, &some, event).await?;
        ages = VersionAges::of(remote, folder, document, modified, event).await?;
    }
    let again = ages.folder.next_turn(remote.now()).filter(|_| !open(&ages).is_empty());
    Ok((ages, again))
}
