//! One level of a repository whose content is files by path.

use crate::browse::{HiddenItem, ItemPlace, Level, LevelItem, MemberItems};
use crate::error::Result;
use crate::group::is_hosted;
use crate::listed::PageRequest;
use crate::maven::koji;
use crate::policy::hidden::Hidden;
use crate::repository::Repository;
use crate::services::Services;
use crate::upstream::row::OfUpstream;
use crate::visible::{Row, hidden, shown, visible};
use std::collections::HashMap;
use std::sync::Arc;
use store::{CachedFile, Child, Entry, Lane, LevelRequest, RepositoryKind};
use telemetry::Event;

pub(crate) async fn level_of_files(
    services: &Services,
    repository: &Arc<Repository>,
    part: PageRequest<'_>,
    event: &mut Event,
) -> Result<Level> {
    match repository.record.kind {
        RepositoryKind::Remote if repository.is_koji() => koji::level(services, repository, part, event).await,
        RepositoryKind::Remote => level_of_cached_files(services, repository, part, event).await,
        _ => level_of_entries(services, repository, part, event).await,
    }
}

async fn level_of_entries(
    services: &Services,
    repository: &Arc<Repository>,
    part: PageRequest<'_>,
    event: &mut Event,
) -> Result<Level> {
    let (children, next) = repository.children(&services.store, request(part), event).await?;
    let view = repository.view(services.clock.now());
    let mut items = Vec::with_capacity(children.len());
    for Child { name, first } in children {
        let mut item = LevelItem::of(repository, part.path, name, first.as_ref().map(|entry| entry.key.as_str()));
        let Some(entry) = first else {
            items.push(item);
            continue;
        };
        let why = match shown(&entry, view) {
            Ok(_) => None,
            // It was published or withdrawn at another moment than that of the view.
            Err(None) if !item.is_folder => continue,
            Err(why) => why,
        };
        item.hidden = match item.is_folder {
            true if why.is_some() => why_all_hidden(services, repository, &item, why, event).await?.map(Into::into),
            true => None,
            false => why.map(Into::into),
        };
        if !item.is_folder {
            (item.at, item.hashes) = (Some(entry.first_published()), Some(entry.hashes));
        }
        items.push(item);
    }
    if items.is_empty() && part.after.is_empty() && !part.path.is_empty() {
        let entry = repository.entry(&services.store, part.path, event).await?;
        let seen = |entry: &Entry| !matches!(shown(entry, view), Err(None));
        if let Some(entry) = entry.filter(seen) {
            let (folder, name) = split(part.path);
            let mut item = LevelItem::of(repository, folder, name.to_owned(), Some(part.path));
            (item.at, item.hidden) =
                (Some(entry.first_published()), shown(&entry, view).err().flatten().map(Into::into));
            item.hashes = Some(entry.hashes);
            items.push(item);
        }
    }
    Ok(Level { items, next })
}

/// Why all files of a version's folder are hidden, if the first of them is. A folder above versions is not hidden.
async fn why_all_hidden(
    services: &Services,
    repository: &Arc<Repository>,
    folder: &LevelItem,
    first: Option<Hidden>,
    event: &mut Event,
) -> Result<Option<Hidden>> {
    if folder.version.is_none() {
        return Ok(None);
    }
    let rows = match repository.as_of {
        None => services.store.live_unit(repository.id, &folder.path, Lane::Index, event).await?.entries,
        Some(_) => repository.unit(&services.store, &folder.path, event).await?,
    };
    let seen = visible(&rows, repository.view(services.clock.now())).next().is_some();
    Ok(first.filter(|_| !seen))
}

async fn level_of_cached_files(
    services: &Services,
    repository: &Arc<Repository>,
    part: PageRequest<'_>,
    event: &mut Event,
) -> Result<Level> {
    let origin = repository.origin;
    let mut children = services.store.cached_children(origin, request(part), event).await?;
    let next = children.last().filter(|_| children.len() == part.limit).map(|last| last.name.clone());
    let mut folder = part.path;
    if children.is_empty() && part.after.is_empty() && !part.path.is_empty() {
        let rows = services.store.cached_files(origin, part.path, "", 1, event).await?;
        let at = rows.into_iter().filter(|(path, _)| path == part.path);
        let (above, name) = split(part.path);
        folder = above;
        children = at.map(|row| Child { name: name.to_owned(), first: Some(row) }).collect();
    }
    let mut items = Vec::with_capacity(children.len());
    for Child { name, first } in children {
        let Some((path, cached)) = first else { continue };
        let mut item = LevelItem::of(repository, folder, name, Some(&path));
        item.place = ItemPlace::Cached;
        let why = why_cached_is_hidden(services, repository, &path, &cached, event).await?;
        match why {
            Ok(why) => item.hidden = why.filter(|_| !item.is_folder || item.version.is_some()).map(Into::into),
            // It was fetched after the moment of the view.
            Err(()) if !item.is_folder => continue,
            Err(()) => {}
        }
        if !item.is_folder {
            (item.at, item.hashes) = (Some(cached.fetched), Some(cached.hashes));
        }
        items.push(item);
    }
    Ok(Level { items, next })
}

/// Why a cached file is hidden, if it is. `Err`: it was not there at the moment of the view.
pub(crate) async fn why_cached_is_hidden(
    services: &Services,
    repository: &Arc<Repository>,
    path: &str,
    cached: &CachedFile,
    event: &mut Event,
) -> Result<Result<Option<Hidden>, ()>> {
    let remote = services.remotes.remote(repository, &Arc::default());
    if repository.is_koji() {
        return koji::why_hidden(&remote, path, cached, event).await;
    }
    let file = repository.file(path);
    let (row, view) = (OfUpstream::kept(&remote, &file, cached, event).await?, repository.view(services.clock.now()));
    if view.as_of.is_some_and(|moment| row.lifecycle().1 > moment) {
        return Ok(Err(()));
    }
    let rows = [row];
    Ok(Ok(hidden(&rows, view).next().map(|(_, why)| why)))
}

/// Marks what upstreams have under a name that hosted members guard.
pub(crate) async fn leave_guarded(
    services: &Services,
    group: &Arc<Repository>,
    parts: &mut [MemberItems],
    event: &mut Event,
) -> Result<()> {
    let place = Arc::default();
    let tools = services.group(group, &place);
    let (mut guards, rules) = (HashMap::new(), group.format.rules());
    for (_, items) in parts {
        for (place, item) in items.iter_mut().filter(|(place, _)| !is_hosted(&group.leaves[*place])) {
            let file = match item.package.as_deref().and_then(|package| rules.path_in_package(package)) {
                Some(file) => file,
                None if item.is_folder => continue,
                None => item.path.clone(),
            };
            let key = (*place, file);
            let blocked = match guards.get(&key) {
                Some(blocked) => *blocked,
                None => {
                    let guard = tools.guard(&group.file(&key.1), services.clock.now(), event).await?;
                    let blocks = guard.blocks(&group.leaves[*place]);
                    *guards.entry(key).or_insert(blocks)
                }
            };
            if blocked {
                let what = item.package.as_deref().unwrap_or(&item.path);
                let reason = format!("only hosted members of `{}` answer for `{what}`", group.record.name);
                item.hidden = Some(HiddenItem { reason, until: None });
            }
        }
    }
    Ok(())
}

impl LevelItem {
    /// A child of a folder with this name. `below` is its path, or the path of a file below it.
    pub(crate) fn of(repository: &Repository, folder: &str, name: String, below: Option<&str>) -> Self {
        let is_folder = name.ends_with('/');
        let path = match folder {
            "" => name.trim_end_matches('/').to_owned(),
            folder => format!("{folder}/{}", name.trim_end_matches('/')),
        };
        let (package, version) = match below.and_then(|below| repository.file(below).package()) {
            Some((of, package, version)) if path.len() >= of.len() => {
                let version = (path.len() > of.len()).then(|| version.to_owned());
                (Some(package), version)
            }
            _ => (None, None),
        };
        let (place, members) = (ItemPlace::Hosted, Vec::new());
        Self { key: name, is_folder, path, package, version, place, hashes: None, at: None, hidden: None, members }
    }
}

fn request(part: PageRequest<'_>) -> LevelRequest {
    LevelRequest { folder: part.path.to_owned(), after: part.after.to_owned(), limit: part.limit }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
