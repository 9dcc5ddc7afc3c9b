//! What the map has in a folder, and its artifacts, for people. Nothing here makes a call.

use crate::browse::{ItemPlace, Level, LevelItem};
use crate::content::Freshness;
use crate::error::{Error, Result};
use crate::listed::PageRequest;
use crate::maven::koji::answer::asked::Asked;
use crate::maven::koji::answer::metadata;
use crate::maven::koji::answer::shown::KojiVersion;
use crate::maven::koji::load::load;
use crate::maven::koji::map::{FoundFile, KojiView};
use crate::policy::hidden::Hidden;
use crate::repository::Repository;
use crate::services::Services;
use crate::tree::folder_list::FolderRow;
use crate::upstream::Remote;
use crate::visible::shown;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::CachedFile;
use telemetry::{Event, Millis};

/// Most cached files of one folder that are looked at. No build has so many in one.
const CACHED: usize = 2_000;

/// The map as it is, without a look. It fails if there is none.
pub(crate) async fn asked<'a>(remote: &'a Remote, event: &mut Event) -> Result<Asked<'a>> {
    let known = load(remote, event).await?.ok_or(Error::Unasked)?;
    Ok(Asked { remote, known, view: KojiView::of(&remote.repository) })
}

/// The versions of an artifact, including the ones that the policy hides.
pub(crate) async fn versions(remote: &Remote, folder: &str, event: &mut Event) -> Result<Vec<KojiVersion>> {
    Ok(metadata::versions(&asked(remote, event).await?, folder))
}

/// The folders of artifacts after `after`, such as `org/example/lamp/`, at most `limit`, and whether there are more.
pub(crate) async fn artifacts(
    remote: &Remote,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<(Vec<String>, bool)> {
    let asked = match asked(remote, event).await {
        Err(Error::Unasked) => return Ok((Vec::new(), false)),
        asked => asked?,
    };
    let (mut folders, mut more) = (Vec::new(), false);
    asked.known.map.artifacts(asked.view, after.trim_end_matches('/'), &mut |folder, _| {
        more = folders.len() == limit;
        if !more {
            folders.push(format!("{folder}/"));
        }
        !more
    });
    Ok((folders, more))
}

/// Why clients do not get a cached file, if the policy is the reason. `Err`: the map does not have it, or not with
/// these bytes.
pub(crate) async fn why_hidden(
    remote: &Remote,
    path: &str,
    cached: &CachedFile,
    event: &mut Event,
) -> Result<Result<Option<Hidden>, ()>> {
    let asked = match asked(remote, event).await {
        Err(Error::Unasked) => return Ok(Err(())),
        asked => asked?,
    };
    let file = remote.repository.file(path);
    let Some((place, _)) = asked.find(&file).filter(|(_, found)| found.may_be(&cached.hashes)) else {
        return Ok(Err(()));
    };
    let row = KojiVersion::of(file.folder, place, asked.view);
    Ok(shown(&row, remote.repository.view(remote.now())).map(|_| None).or_else(|why| why.map(Some).ok_or(())))
}

/// The files of a folder that clients may ask for, each with its cached copy if there is one.
pub(crate) async fn files(
    asked: &Asked<'_>,
    folder: &str,
    event: &mut Event,
) -> Result<Vec<(String, u64, Option<CachedFile>)>> {
    let (store, origin) = (&asked.remote.remotes.store, asked.remote.repository.origin);
    let cached = store.cached_files(origin, &format!("{folder}/"), "", CACHED, event).await?;
    let mut cached: BTreeMap<String, CachedFile> =
        cached.into_iter().map(|(path, file)| (path, CachedFile::clone(&file))).collect();
    let found = |path: &str| -> Option<FoundFile> { Some(asked.find(&asked.remote.repository.file(path))?.1) };
    let row = |(name, size_bytes): (String, u64)| {
        let path = format!("{folder}/{name}");
        let kept = cached.remove(&path).filter(|kept| found(&path).is_some_and(|found| found.may_be(&kept.hashes)));
        (path, size_bytes, kept)
    };
    Ok(asked.known.map.files(folder, asked.view).into_iter().map(row).collect())
}

/// The folders and files in a folder, after a look if one is due. The policy is not applied.
pub(crate) async fn rows(
    remote: &Remote,
    folder: &str,
    event: &mut Event,
) -> Result<(Vec<FolderRow>, Option<Freshness>)> {
    let asked = Asked::ready(remote, event).await?.counted();
    let (map, view) = (&asked.known.map, asked.view);
    let below = |name: String| {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let at = map.place(&path, view).ok().map(|place| Millis(place.tagged.at_ms));
        FolderRow { name: format!("{name}/"), at, size_bytes: None }
    };
    let mut rows: Vec<FolderRow> = map.children(folder, view).into_iter().map(below).collect();
    let at = map.place(folder, view).ok().map(|place| Millis(place.tagged.at_ms));
    let file = |(name, size_bytes)| FolderRow { name, at, size_bytes: Some(size_bytes) };
    rows.extend(map.files(folder, view).into_iter().map(file));
    Ok((rows, metadata::freshness(&asked)))
}

/// A part of one level.
pub(crate) async fn level(
    services: &Services,
    repository: &Arc<Repository>,
    part: PageRequest<'_>,
    event: &mut Event,
) -> Result<Level> {
    let remote = services.remotes.remote(repository, &Arc::default());
    let asked = match asked(&remote, event).await {
        Err(Error::Unasked) => return Ok(Level::default()),
        asked => asked?,
    };
    let (map, now) = (&asked.known.map, remote.now());
    let mut items: BTreeMap<String, LevelItem> = BTreeMap::new();
    let hidden = |folder: &str| {
        let place = map.place(folder, asked.view).ok()?;
        KojiVersion::of(folder, place, asked.view).hidden(repository, now)
    };
    for name in map.children(part.path, asked.view) {
        let folder = if part.path.is_empty() { name.clone() } else { format!("{}/{name}", part.path) };
        let is_version = map.place(&folder, asked.view).is_ok();
        let below = if is_version { format!("{folder}/file") } else { folder.clone() };
        let item = LevelItem::of(repository, part.path, format!("{name}/"), is_version.then_some(below.as_str()));
        let item = LevelItem { place: ItemPlace::Known, hidden: hidden(&folder).map(Into::into), ..item };
        items.insert(item.key.clone(), item);
    }
    let (folder, only) = match map.files(part.path, asked.view).is_empty() && items.is_empty() {
        true => part.path.rsplit_once('/').map_or(("", None), |(folder, name)| (folder, Some(name))),
        false => (part.path, None),
    };
    let why = hidden(folder);
    for (path, _, cached) in files(&asked, folder, event).await? {
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let item = LevelItem::of(repository, folder, name, Some(&path));
        let place = if cached.is_some() { ItemPlace::Cached } else { ItemPlace::Known };
        let at = cached.as_ref().map(|cached| cached.fetched);
        let hashes = cached.map(|cached| cached.hashes);
        let item = LevelItem { place, at, hashes, hidden: why.clone().map(Into::into), ..item };
        items.insert(item.key.clone(), item);
    }
    let mut items: Vec<LevelItem> = items.into_values().filter(|item| item.key.as_str() > part.after).collect();
    let next = (items.len() > part.limit).then(|| items.get(part.limit - 1).map(|last| last.key.clone())).flatten();
    items.truncate(part.limit);
    Ok(Level { items, next })
}
