//! One level of a gem repository: the names of gems, and the versions of one gem.

use crate::browse::{HiddenItem, ItemPlace, Level, LevelItem, MemberItems};
use crate::error::Result;
use crate::gem::group::members::KnownMembers;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::facts;
use crate::gem::package_list::names_after;
use crate::gem::source::GemSource;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::listing::Listed;
use crate::gem::upstream::view::token_rows;
use crate::index::document::Index;
use crate::listed::PageRequest;
use crate::package::listed::Among;
use crate::policy::rules::OPEN;
use crate::repository::Repository;
use crate::services::Services;
use crate::visible::{Row, hidden, shown, visible};
use std::collections::HashMap;
use std::sync::Arc;
use store::{RepositoryKind, Stamp};
use telemetry::Event;

pub(crate) async fn level_of_gems(
    services: &Services,
    repository: &Arc<Repository>,
    settings: &Stamp,
    part: PageRequest<'_>,
    event: &mut Event,
) -> Result<Level> {
    match part.path {
        "" => level_of_names(services, repository, settings, part, event).await,
        name if repository.record.kind == RepositoryKind::Remote => {
            level_of_listed(services, repository, settings, name, part, event).await
        }
        name => level_of_published(services, repository, name, part, event).await,
    }
}

/// The names of all gems with a version, without regard to policies. `None`: the index of the upstream was never read.
pub(crate) async fn index_of_names(
    services: &Services,
    repository: &Arc<Repository>,
    settings: &Stamp,
    event: &mut Event,
) -> Result<Option<Index>> {
    let open = Arc::new(repository.unasked().seen(OPEN.clone(), repository.as_of));
    let local = Hosted::of(services, &open, settings);
    if repository.record.kind != RepositoryKind::Remote {
        return Ok(Some(Box::pin(GemSource::Hosted(local).names(event)).await?));
    }
    let remote = services.remotes.remote(&open, &Arc::default());
    let gems = RemoteGems::of(&remote, local);
    // Reads the kept lines of the index, if this was not done yet.
    let ready = gems.ready(event).await;
    if open.shared.gems().followed.read(open.origin, |_| ()).is_none() || ready.is_err() {
        return Ok(None);
    }
    Ok(Some(Box::pin(GemSource::Remote(gems).names(event)).await?))
}

async fn level_of_names(
    services: &Services,
    repository: &Arc<Repository>,
    settings: &Stamp,
    part: PageRequest<'_>,
    event: &mut Event,
) -> Result<Level> {
    let Some(index) = index_of_names(services, repository, settings, event).await? else { return Ok(Level::default()) };
    let names = names_after(&index.pieces, part.after.trim_end_matches('/'), part.limit);
    let next = names.last().filter(|_| names.len() == part.limit).cloned();
    let is_remote = repository.record.kind == RepositoryKind::Remote;
    let (view, mut items) = (repository.view(services.clock.now()), Vec::with_capacity(names.len()));
    for name in names {
        let hidden = match (repository.rules.is_open(), is_remote) {
            (true, _) => None,
            (false, true) => {
                let listed = listed(services, repository, settings, &name, event).await?.unwrap_or_default();
                why_all(&token_rows(&name, &listed), view)
            }
            (false, false) => why_all(&repository.unit(&services.store, &name, event).await?, view),
        };
        let place = if is_remote { ItemPlace::Known } else { ItemPlace::Hosted };
        items.push(LevelItem {
            key: format!("{name}/"),
            is_folder: true,
            path: name.clone(),
            package: Some(name),
            version: None,
            place,
            hashes: None,
            at: None,
            hidden,
            members: Vec::new(),
        });
    }
    Ok(Level { items, next: next.map(|name| format!("{name}/")) })
}

/// The versions of a gem that the upstream lists, as of the moment of the repository.
pub(crate) async fn listed(
    services: &Services,
    repository: &Arc<Repository>,
    settings: &Stamp,
    name: &str,
    event: &mut Event,
) -> Result<Option<Listed>> {
    let quiet = Arc::new(repository.unasked());
    let local = Hosted::of(services, &quiet, settings);
    let (remote, index) = (services.remotes.remote(&quiet, &Arc::default()), &quiet.shared.gems().followed);
    let gems = RemoteGems::of(&remote, local);
    if gems.ready(event).await.is_err() || index.read(quiet.origin, |_| ()).is_none() {
        return Ok(None);
    }
    let end = gems.end()?;
    gems.known(|known| known.listing.gem_by(name, end))
}

async fn level_of_listed(
    services: &Services,
    repository: &Arc<Repository>,
    settings: &Stamp,
    name: &str,
    part: PageRequest<'_>,
    event: &mut Event,
) -> Result<Level> {
    let Some(listed) = listed(services, repository, settings, name, event).await? else { return Ok(Level::default()) };
    let (mut rows, view) = (token_rows(name, &listed), repository.view(services.clock.now()));
    rows.sort_unstable_by_key(|row| row.token);
    rows.retain(|row| part.after.is_empty() || row.token > part.after);
    rows.truncate(part.limit);
    let next = rows.last().filter(|_| rows.len() == part.limit).map(|row| row.token.to_owned());
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        let hidden = match shown(&row, view) {
            Ok(_) => None,
            Err(None) => continue,
            Err(Some(why)) => Some(why.into()),
        };
        let path = format!("gems/{name}-{}.gem", row.token);
        let cached = services.store.cached_files(repository.origin, &path, "", 1, event).await?;
        let cached = cached.into_iter().find(|(at, _)| *at == path).map(|(_, file)| file);
        items.push(LevelItem {
            key: row.token.to_owned(),
            is_folder: false,
            package: Some(name.to_owned()),
            version: Some(row.token.to_owned()),
            place: if cached.is_some() { ItemPlace::Cached } else { ItemPlace::Known },
            at: Some(cached.as_ref().map_or(row.since, |file| file.fetched)),
            hashes: cached.map(|file| file.hashes),
            path,
            hidden,
            members: Vec::new(),
        });
    }
    Ok(Level { items, next })
}

async fn level_of_published(
    services: &Services,
    repository: &Arc<Repository>,
    name: &str,
    part: PageRequest<'_>,
    event: &mut Event,
) -> Result<Level> {
    let mut rows = repository.unit(&services.store, name, event).await?;
    let view = repository.view(services.clock.now());
    rows.retain(|row| !matches!(shown(row, view), Err(None)));
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        let package = facts(&row)?;
        let version = match package.platform.as_str() {
            "ruby" => package.number.as_str().to_owned(),
            platform => format!("{}-{platform}", package.number.as_str()),
        };
        items.push(LevelItem {
            is_folder: false,
            path: format!("gems/{}.gem", row.key),
            package: Some(name.to_owned()),
            place: ItemPlace::Hosted,
            at: Some(row.first_published()),
            hidden: shown(&row, view).err().flatten().map(Into::into),
            hashes: Some(row.hashes),
            members: Vec::new(),
            key: version.clone(),
            version: Some(version),
        });
    }
    items.retain(|item| part.after.is_empty() || item.key.as_str() > part.after);
    items.sort_by(|one, other| one.key.cmp(&other.key));
    items.truncate(part.limit);
    let next = items.last().filter(|_| items.len() == part.limit).map(|item| item.key.clone());
    Ok(Level { items, next })
}

/// Leaves of each gem only what its owners have: nobody else answers for the name.
pub(crate) async fn leave_owners(
    services: &Services,
    group: &Repository,
    parts: &mut Vec<MemberItems>,
    event: &mut Event,
) -> Result<()> {
    let name = |items: &[(usize, LevelItem)]| items.first().and_then(|(_, item)| item.package.clone());
    let mut names: Vec<String> = parts.iter().filter_map(|(_, items)| name(items)).collect();
    names.dedup();
    let names = names.iter().map(String::as_str);
    let members =
        KnownMembers::of_these(&group.leaves, Among::All, &services.store, services.clock.now(), names, event).await?;
    let mut owners: HashMap<String, Vec<usize>> = HashMap::new();
    for (_, items) in &mut *parts {
        let Some(name) = name(items) else { continue };
        let owners = owners.entry(name).or_insert_with_key(|name| members.owners(name));
        items.retain(|(place, _)| owners.contains(place));
    }
    parts.retain(|(_, items)| !items.is_empty());
    Ok(())
}

/// Why all of these rows are hidden; `None`: one is visible, or there is none.
pub(crate) fn why_all<R: Row>(rows: &[R], view: crate::policy::rules::View<'_>) -> Option<HiddenItem> {
    match visible(rows, view).next() {
        Some(_) => None,
        None => hidden(rows, view).next().map(|(_, why)| why.into()),
    }
}
