//! The files and the declarations of a version of an artifact.

use crate::content::{Source, rows_of};
use crate::error::Result;
use crate::group::is_hosted;
use crate::maven::koji;
use crate::maven::layout::MavenPath;
use crate::maven::packages::folder_of;
use crate::package::details::{
    ComparedFile, ComparedFiles, DeclaredDependency, DeclaredFacts, LinkKind, VersionDetails, VersionFile,
};
use crate::package::listed::Among;
use crate::package::rows::VersionRow;
use crate::question::Ask;
use crate::repository::Repository;
use crate::services::Services;
use crate::tree::answer::fetch;
use crate::visible::visible;
use crate::workers::aside;
use format::gem::content::Readme;
use format::maven::pom::{Coordinates, Declared};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Lane;
use telemetry::{Event, Op};

/// The most files of a version that are told. A folder of snapshots can have thousands.
const FILES: usize = 500;
/// The longest POM that is read, in bytes.
const POM_BYTES: u64 = 1 << 20;

/// The files and the declarations of a version that clients get; of others nothing beside the row is told. Of a group, the hosted members
/// among these are read.
pub(crate) async fn details(
    services: &Services,
    ask: &Ask<'_>,
    package: &str,
    mut row: VersionRow,
    among: Among<'_>,
    event: &mut Event,
) -> Result<VersionDetails> {
    let folder = folder_of(package).filter(|_| row.standing.is_visible());
    let Some(folder) = folder.map(|folder| format!("{folder}/{}", row.version)) else {
        return Ok(VersionDetails { row, files: Vec::new(), more_files: false, declared: None });
    };
    let mut files: BTreeMap<String, VersionFile> = BTreeMap::new();
    let leaves = std::slice::from_ref(&ask.repository).iter().chain(ask.repository.leaves.iter());
    for leaf in leaves.filter(|leaf| is_hosted(leaf) && among.may_be(leaf)) {
        for entry in visible(&leaf.live_unit(&services.store, &folder, event).await?, leaf.view(services.clock.now())) {
            let entry = entry.entry();
            if row.origin.is_none() && row.dated.is_some() && leaf.id == row.member.id {
                row.origin.clone_from(&entry.origin);
            }
            let file = VersionFile {
                path: entry.key.clone(),
                hashes: Some(entry.hashes.clone()),
                at: Some(entry.first_published()),
            };
            files.entry(entry.key.clone()).or_insert(file);
        }
    }
    if !is_hosted(&row.member) {
        add_cached_files(services, &row.member, &folder, &mut files, event).await?;
    }
    let pom = files.keys().rfind(|path| MavenPath::read(path).pom().is_some()).cloned();
    let main = format!("{folder}/{}-{}.pom", artifact(package), row.version);
    let pom = if files.contains_key(&main) { Some(main) } else { pom };
    let declared = match pom {
        Some(pom) => declared(services, ask, &pom, event).await?,
        None => None,
    };
    let more_files = files.len() > FILES;
    let files = files.into_values().take(FILES).collect();
    Ok(VersionDetails { row, files, more_files, declared })
}

async fn add_cached_files(
    services: &Services,
    repository: &Arc<Repository>,
    folder: &str,
    files: &mut BTreeMap<String, VersionFile>,
    event: &mut Event,
) -> Result<()> {
    if repository.is_koji() {
        let remote = services.remotes.remote(repository, &Arc::default());
        for (path, cached) in koji::files(&remote, folder, event).await? {
            let (hashes, at) = cached.map(|cached| (cached.hashes, cached.fetched)).unzip();
            files.entry(path.clone()).or_insert(VersionFile { path, hashes, at });
        }
        return Ok(());
    }
    let prefix = format!("{folder}/");
    let cached = services.store.cached_files(repository.origin, &prefix, "", FILES + 1, event).await?;
    for (path, file) in cached {
        let read = MavenPath::read(&path);
        if read.artifact().is_some() && read.checksum().is_none() {
            let listed =
                || VersionFile { path: path.clone(), hashes: Some(file.hashes.clone()), at: Some(file.fetched) };
            files.entry(path.clone()).or_insert_with(listed);
        }
    }
    Ok(())
}

/// What the POM at a path declares, as clients get the POM; `None`: it is not there, or cannot be read.
async fn declared(services: &Services, ask: &Ask<'_>, path: &str, event: &mut Event) -> Result<Option<DeclaredFacts>> {
    let mut own = Event::job("GET", services.clock.now());
    let found = fetch(services, ask, &ask.repository.file(path), &mut own).await;
    own.tallies().for_each(|(op, tally)| event.add_all(op, tally));
    let Ok(content) = found else { return Ok(None) };
    let size = content.hashes.as_ref().map_or(u64::MAX, |hashes| hashes.size_bytes);
    if size > POM_BYTES || matches!(content.source, Source::Growing(_)) {
        return Ok(None);
    }
    let read = move || Ok(content.bytes().and_then(|bytes| Declared::read(&bytes).ok()).map(facts));
    aside(&services.context.workers, Lane::Index, Op::PackageRead, rows_of(size), event, read).await
}

/// The same: the POM tells it all.
pub(crate) async fn version(
    services: &Services,
    ask: &Ask<'_>,
    package: &str,
    row: VersionRow,
    event: &mut Event,
) -> Result<VersionDetails> {
    details(services, ask, package, row, Among::All, event).await
}

/// Artifacts have no README.
pub(crate) async fn readme(
    _: &Services,
    _: &Ask<'_>,
    _: &str,
    _: &VersionRow,
    _: &mut Event,
) -> Result<Option<Readme>> {
    Ok(None)
}

/// The files of a version by name, with a `*` for the version. `None`: it has none that clients get.
pub(crate) async fn compared(
    _: &Services,
    _: &Ask<'_>,
    package: &str,
    of: &VersionDetails,
    _: &mut Event,
) -> Result<Option<ComparedFiles>> {
    Ok(compared_files(package, of))
}

fn compared_files(package: &str, of: &VersionDetails) -> Option<ComparedFiles> {
    let own = format!("{}-{}", artifact(package), of.row.version);
    let one = |file: &VersionFile| {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let name = match name.strip_prefix(&own) {
            Some(rest) => format!("{}-*{rest}", artifact(package)),
            None => name.to_owned(),
        };
        let hashes = file.hashes.as_ref()?;
        Some(ComparedFile { name, size_bytes: hashes.size_bytes, sha256: hashes.sha256.to_string() })
    };
    let files: Vec<_> = of.files.iter().filter_map(one).collect();
    (!files.is_empty()).then_some(ComparedFiles { files, is_cut: of.more_files })
}

/// The artifact of `G:A`.
fn artifact(package: &str) -> &str {
    package.split_once(':').map_or(package, |(_, artifact)| artifact)
}

fn facts(declared: Declared) -> DeclaredFacts {
    let dependencies = declared.dependencies.into_iter().map(|one| DeclaredDependency {
        package: format!("{}:{}", one.group, one.artifact),
        versions: one.version.unwrap_or_default(),
        scope: one.scope,
        optional: one.optional,
        classifier: one.classifier,
    });
    let issues = declared.issues.map(|url| (LinkKind::Bugs, url));
    let parent = |Coordinates { group, artifact, version }| (format!("{group}:{artifact}"), version);
    DeclaredFacts {
        summary: declared.name,
        description: declared.description,
        homepage: declared.url,
        links: declared.source.into_iter().map(|url| (LinkKind::Source, url)).chain(issues).collect(),
        licenses: declared.licenses,
        authors: declared.developers,
        packaging: Some(declared.packaging),
        parent: declared.parent.map(parent),
        requires: Vec::new(),
        dependencies: dependencies.collect(),
    }
}
