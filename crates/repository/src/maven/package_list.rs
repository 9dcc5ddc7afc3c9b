//! Lists of artifacts: of a hosted repository from its listings, of an upstream from the cached files, of a group from both.

use crate::error::{Error, Result};
use crate::group::is_hosted;
use crate::listed::Page;
use crate::maven::koji;
use crate::maven::packages::rows;
use crate::package::listed::{AT_ONCE, Among, ListedNames, ListedPackage};
use crate::package::standing::Standing;
use crate::question::Ask;
use crate::repository::Repository;
use crate::services::Services;
use crate::workers::after_others;
use format::maven::path;
use format::tree;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{RepositoryId, UnitFilter};
use telemetry::Event;

/// The most reads of one list: of cached files, and of lists of versions.
const READS: usize = 2_000;
/// Cached files that one read returns.
const PAGE: usize = 200;
/// The middle of the units of listed versions: `G/A//versions/V`.
const VERSIONS: &str = "//versions/";

/// The artifacts after `after` by folder, at most `limit`.
pub(crate) async fn listed(
    services: &Services,
    ask: &Ask<'_>,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<Page<ListedPackage>> {
    let ListedNames { names, next } = self::names(services, ask, after, limit, event).await?;
    let mut listed = Vec::with_capacity(names.len());
    for (at, (package, holders)) in names.into_iter().enumerate() {
        if at % AT_ONCE == AT_ONCE - 1 {
            after_others(event).await;
        }
        let found = match Box::pin(rows(services, ask, &package, Among::These(&holders), event)).await {
            Err(Error::Hidden(_)) => continue,
            found => found?,
        };
        let visible = found.rows.iter().filter(|row| row.standing.is_visible()).count();
        let hidden = found.rows.iter().filter(|row| matches!(row.standing, Standing::Hidden(_))).count();
        if visible + hidden > 0 {
            let (latest, latest_is) = (found.latest, found.latest_is);
            listed.push(ListedPackage { package, latest, latest_is, visible: Some(visible), hidden });
        }
    }
    Ok(Page { rows: listed, next })
}

/// The artifacts after `after` that members have or had, at most `limit`, and where more begin.
pub(crate) async fn names(
    services: &Services,
    ask: &Ask<'_>,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<ListedNames> {
    // Each folder ends with a slash here, so that folders have the order of the paths and units below them.
    let folder_of = |(group, artifact): (&str, &str)| format!("{}/{artifact}/", group.replace('.', "/"));
    let after = after.split_once(':').map_or_else(|| after.to_owned(), folder_of);
    let mut holders: BTreeMap<String, Vec<RepositoryId>> = BTreeMap::new();
    let (mut documents, mut unread) = (BTreeMap::new(), Vec::new());
    let mut is_cut = false;
    let leaves = std::slice::from_ref(&ask.repository).iter().filter(|one| one.leaves.is_empty());
    for leaf in leaves.chain(ask.repository.leaves.iter()) {
        let found = match is_hosted(leaf) {
            true => listed_folders(services, leaf, &after, limit, event).await?,
            false if leaf.is_koji() => {
                let remote = services.remotes.remote(leaf, &ask.place);
                let (folders, may_be_more) = koji::artifacts(&remote, &after, limit, event).await?;
                FoundFolders { artifacts: folders.into_iter().collect(), may_be_more, ..FoundFolders::default() }
            }
            false => cached_folders(services, leaf, &after, limit, event).await?,
        };
        is_cut |= found.may_be_more;
        if found.may_be_more && found.artifacts.len() < limit {
            unread.push(leaf.id);
        }
        found.artifacts.into_iter().for_each(|folder| holders.entry(folder).or_default().push(leaf.id));
        found.documents.into_iter().for_each(|folder| documents.entry(folder).or_insert_with(Vec::new).push(leaf.id));
    }
    for (folder, ids) in &mut holders {
        ids.extend(documents.get(folder).into_iter().flatten().chain(&unread));
    }
    let ListedNames { names, next } = ListedNames::first(holders, limit, is_cut);
    let names: Vec<_> = names.into_iter().filter_map(|(folder, ids)| Some((package_of(&folder)?, ids))).collect();
    let next = next.and_then(|_| names.last().map(|(name, _)| name.clone()));
    Ok(ListedNames { names, next })
}

/// Folders of artifacts with listed versions.
async fn listed_folders(
    services: &Services,
    repository: &Arc<Repository>,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<FoundFolders> {
    let (mut found, mut unit) = (FoundFolders::default(), String::new());
    if !after.is_empty() {
        unit = format!("{}{VERSIONS}{}", after.trim_end_matches('/'), char::MAX);
    }
    let filter = UnitFilter::WithFacts(repository.as_of.map(|past| past.through));
    let mut reads = 0;
    while reads < READS && found.artifacts.len() < limit {
        let most = limit - found.artifacts.len();
        let lists = services.store.first_of_each_kind(repository.id, filter, &unit, end_of_list, most, event).await?;
        reads += lists.len();
        unit = lists.last().map(|last| end_of_list(last)).unwrap_or_default();
        let folders = lists.iter().filter_map(|first| Some(format!("{}/", first.split_once(VERSIONS)?.0)));
        found.artifacts.extend(folders);
        if lists.len() < most {
            return Ok(found);
        }
    }
    found.may_be_more = true;
    Ok(found)
}

/// Folders of artifacts with cached files.
async fn cached_folders(
    services: &Services,
    repository: &Arc<Repository>,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<FoundFolders> {
    let (mut found, mut from) = (FoundFolders::default(), after.to_owned());
    for _ in 0..READS {
        let files = services.store.cached_files(repository.origin, "", &from, PAGE, event).await?;
        let full = files.len() == PAGE;
        for (at, _) in &files {
            let folder = path::version_of(at).map(|(group, artifact, version)| {
                let folder = format!("{group}/{artifact}/");
                // The other files of this version are passed over.
                from = format!("{folder}{version}/{}", char::MAX);
                folder
            });
            match folder {
                Some(folder) if folder.as_str() > after => drop(found.artifacts.insert(folder)),
                Some(_) => {}
                None => {
                    found.documents.insert(format!("{}/", tree::folder(at)));
                    from.clone_from(at);
                }
            }
        }
        found.may_be_more = full;
        if !full || found.artifacts.len() >= limit {
            break;
        }
    }
    Ok(found)
}

/// Folders of artifacts in one member, each with a slash at its end.
#[derive(Debug, Default)]
struct FoundFolders {
    /// Those with versions.
    artifacts: BTreeSet<String>,
    /// Those with other files, such as a list of versions.
    documents: BTreeSet<String>,
    /// Whether there may be more behind these.
    may_be_more: bool,
}

/// A name behind all units of the list that this one belongs to.
fn end_of_list(unit: &str) -> String {
    let (folder, item) = unit.split_once("//").unwrap_or((unit, ""));
    let list = item.split('/').next().unwrap_or_default();
    format!("{folder}//{list}/{}", char::MAX)
}

/// `G:A` of a folder that ends with a slash.
fn package_of(folder: &str) -> Option<String> {
    let (group, artifact) = folder.trim_end_matches('/').rsplit_once('/')?;
    Some(format!("{}:{artifact}", group.replace('/', ".")))
}
