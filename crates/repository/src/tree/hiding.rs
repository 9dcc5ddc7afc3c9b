//! What an upload hides: groups ask no upstream for an artifact or a raw file that a hosted repository has.

use crate::error::Result;
use crate::group::is_hosted;
use crate::question::Ask;
use crate::repository::Repository;
use crate::services::Services;
use crate::tree::facts::{Guarded, Provenance};
use crate::tree::file::File;
use std::sync::Arc;
use store::CachedPath;
use telemetry::Event;

/// Number of cached files that one read of the store returns.
const PAGE: usize = 100;

/// Maximum number of folders that are searched below one.
const FOLDERS: usize = 1_000;

/// A name that a first upload hides in a group.
#[derive(Debug)]
pub(crate) struct HiddenName {
    /// The name: `org.example:lamp`, or the path of a raw file.
    name: String,
    /// The hidden versions or the hidden file.
    what: &'static str,
    /// The group.
    group: Arc<Repository>,
    /// Its remote members that are known to have something of the name.
    known: Vec<Arc<Repository>>,
}

impl HiddenName {
    /// The notice for who uploads. Repositories that are private are named to administrators alone.
    pub(crate) fn notice(&self, is_admin: bool) -> String {
        let seen = |one: &&Arc<Repository>| is_admin || !one.record.private;
        let group = match Some(&self.group).filter(seen) {
            Some(group) => format!("the group `{}` asks", group.record.name),
            None => "a group asks".to_owned(),
        };
        let known: Vec<_> = self.known.iter().filter(seen).map(|one| format!("`{}`", one.record.name)).collect();
        let hides = match known.is_empty() {
            true => format!("and hides {} that upstreams may have", self.what),
            false => format!("and hides {} that {} has", self.what, known.join(" and ")),
        };
        format!("from now on {group} no upstream for `{}`, {hides}", self.name)
    }
}

/// The name that an upload of `file` would hide in the first group for which it is the first of its artifact, where the group has
/// remote members that it would be asked of.
pub(crate) async fn hidden_by(
    services: &Services,
    ask: &Ask<'_>,
    file: &File<'_>,
    event: &mut Event,
) -> Result<Option<HiddenName>> {
    let Some(guarded) = file.guarded().next() else { return Ok(None) };
    let Some(name) = file.guarded_name(guarded) else { return Ok(None) };
    if file.provenance() != Some(Provenance::Uploaded) {
        return Ok(None);
    }
    let table = services.table(event).await?;
    let asks = |leaf: &&Arc<Repository>| !is_hosted(leaf) && !leaf.rules.shares(&name);
    let groups = table.groups_with(ask.repository.id).into_iter();
    for repository in groups.filter(|one| one.leaves.iter().any(|leaf| asks(&leaf))) {
        let group = services.group(repository, &ask.place);
        let mut is_first = true;
        for leaf in group.hosted() {
            let has = is_first && group.ever_had(leaf, guarded, services.clock.now(), event).await?;
            is_first &= !has;
        }
        if is_first {
            let mut known = Vec::new();
            for leaf in repository.leaves.iter().filter(asks) {
                if is_known_to_have(services, leaf, guarded, event).await? {
                    known.push(Arc::clone(leaf));
                }
            }
            let what = match guarded {
                Guarded::Folder(_) => "the versions of that name",
                // Nobody else has the path, as far as is known, so nothing is hidden.
                Guarded::Path(_) if known.is_empty() => continue,
                Guarded::Path(_) => "the file at that path",
            };
            return Ok(Some(HiddenName { name: name.to_string(), what, group: repository.clone(), known }));
        }
    }
    Ok(None)
}

/// Whether an upstream is known to have something under a name: its metadata, or files that are cached. A build whose versions are
/// fixed asks for no metadata.
pub(crate) async fn is_known_to_have(
    services: &Services,
    leaf: &Repository,
    name: Guarded<'_>,
    event: &mut Event,
) -> Result<bool> {
    let folder = match name {
        Guarded::Folder(folder) => folder,
        Guarded::Path(path) => {
            let cached = services.store.lookup_cached(leaf.origin, path, services.clock.now(), event).await?;
            return Ok(matches!(cached, Some(CachedPath::File(..))));
        }
    };
    let presence = services.store.folder_presence(folder, event).await?;
    if presence.upstream(leaf.origin).is_some_and(|proven| proven.has) {
        return Ok(true);
    }
    let above = format!("{folder}/");
    let mut after = String::new();
    for _ in 0..FOLDERS {
        let rows = services.store.cached_files(leaf.origin, &above, &after, PAGE, event).await?;
        let below =
            |path: &str| path[above.len()..].split_once('/').map(|(child, rest)| (child.len(), !rest.contains('/')));
        if rows.iter().any(|(path, _)| below(path).is_some_and(|(_, is_version)| is_version)) {
            return Ok(true);
        }
        let Some((last, _)) = rows.last().filter(|_| rows.len() == PAGE) else { return Ok(false) };
        after = match below(last) {
            // Folders further down are those of other artifacts.
            Some((child, _)) => format!("{}/{}", &last[..above.len() + child], char::MAX),
            None => last.clone(),
        };
    }
    Ok(false)
}
