//! The plugins of a group, from the POMs that clients have fetched: a hub does not say which artifacts are plugins, and
//! it is not asked for POMs that nobody wants.

use crate::content::rows_of;
use crate::error::Result;
use crate::maven::koji::answer::asked::Asked;
use crate::maven::koji::answer::file::kept;
use crate::maven::koji::answer::shown::KojiVersion;
use crate::maven::layout::MavenPath;
use crate::upstream::document_bytes;
use crate::upstream::past::unfiltered;
use crate::visible::shown;
use crate::workers::aside;
use bytes::Bytes;
use format::maven::pom::Pom;
use format::maven::{Version, metadata};
use std::collections::BTreeMap;
use store::{Hashes, Lane};
use telemetry::{Event, Op};

/// Cached files that one read returns, and the most reads for one group.
const PAGE: usize = 500;
const READS: usize = 20;
/// The longest POM that is read, in bytes.
const POM_BYTES: usize = 1 << 20;

/// The visible plugins of a group by the newest POM of each that is in the cache. None: it has no artifacts in this map.
pub(crate) async fn of(asked: &Asked<'_>, group: &str, event: &mut Event) -> Result<Vec<metadata::Plugin>> {
    let mut newest: BTreeMap<String, (String, String)> = BTreeMap::new();
    let (repository, prefix) = (&asked.remote.repository, format!("{group}/"));
    if asked.known.map.children(group, asked.view).is_empty() {
        return Ok(Vec::new());
    }
    let mut after = String::new();
    for _ in 0..READS {
        let store = &asked.remote.remotes.store;
        let files = store.cached_files(repository.origin, &prefix, &after, PAGE, event).await?;
        for (path, cached) in &files {
            let Some(pom) = MavenPath::read(path).pom().filter(|pom| pom.group == group) else { continue };
            if !is_visible(asked, path, &cached.hashes) {
                continue;
            }
            let entry = newest.entry(pom.artifact.to_owned());
            let known = entry.or_insert_with(|| (pom.version.to_owned(), path.clone()));
            if Version::new(&known.0).cmp(&Version::new(pom.version)).is_lt() {
                *known = (pom.version.to_owned(), path.clone());
            }
        }
        match files.last() {
            Some((last, _)) if files.len() == PAGE => after.clone_from(last),
            _ => break,
        }
    }
    let mut plugins = Vec::new();
    for (artifact, (_, path)) in newest {
        // The path decides the name.
        let named = |plugin| metadata::Plugin { artifact: artifact.clone(), ..plugin };
        plugins.extend(plugin(asked, &path, event).await?.map(named));
    }
    Ok(plugins)
}

/// Whether clients get a cached file: the map has it with these digests, and the policy shows it.
fn is_visible(asked: &Asked<'_>, path: &str, hashes: &Hashes) -> bool {
    let repository = &asked.remote.repository;
    let file = repository.file(path);
    asked.find(&file).filter(|(_, found)| found.may_be(hashes)).is_some_and(|(place, _)| {
        let row = KojiVersion::of(file.folder, place, asked.view);
        shown(&row, repository.view(asked.remote.now())).is_ok()
    })
}

/// The plugin that a cached POM describes.
async fn plugin(asked: &Asked<'_>, path: &str, event: &mut Event) -> Result<Option<metadata::Plugin>> {
    let file = asked.remote.repository.file(path);
    let Some((_, found)) = asked.find(&file) else { return Ok(None) };
    let Some(kept) = kept(&unfiltered(asked.remote), &file, &found, event).await? else { return Ok(None) };
    let read = document_bytes::read(&kept.held, kept.known.hashes.size_bytes, POM_BYTES);
    let pom = |bytes: &Bytes| Pom::read(bytes).ok().filter(|_| bytes.len() <= POM_BYTES);
    let read = move || Ok(read().ok().as_ref().and_then(pom));
    let (workers, rows) = (&asked.remote.remotes.workers, rows_of(found.size_bytes));
    let pom = aside(workers, Lane::Index, Op::PackageRead, rows, event, read).await?;
    Ok(pom.and_then(|pom| pom.plugin()))
}
