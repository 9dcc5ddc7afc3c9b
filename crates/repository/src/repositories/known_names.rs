//! The known facts about the names of a folder before it is imported: a name that others have would be hidden from all builds.

use crate::bad_setting::BadSetting;
use crate::error::Error;
use crate::format::Format;
use crate::group::concurrent::Concurrent;
use crate::group::is_hosted;
use crate::maven::guard;
use crate::policy::package_version::PackageVersion;
use crate::repositories::Repositories;
use crate::repositories::kept_names::gives_path_back;
use crate::repository::Repository;
use crate::tree::file::Guarded;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{CachedPath, RepositoryKind};
use telemetry::{Event, Op};

/// Most names in one question.
const NAMES_MAX: usize = 200;
/// Number of cached files that one read of the store returns.
const PAGE: usize = 100;
/// Maximum number of folders that are searched below one.
const FOLDERS: usize = 1_000;

/// The known facts about a name of Maven artifacts.
#[derive(Debug)]
pub struct KnownName {
    /// The folder of the name: `org/example/lamp`.
    pub folder: String,
    /// Whether the repository, or a hosted member of a group with it, has or had the name.
    pub hosted: bool,
    /// Whether private prefixes keep the name from all upstreams.
    pub private: bool,
    /// The remote members that have cached files of the name.
    pub cached_by: Vec<Arc<Repository>>,
    /// The remote members that were asked and have it.
    pub listed_by: Vec<Arc<Repository>>,
    /// Whether every upstream was asked, and answered or may not be asked.
    pub is_sure: bool,
    /// The groups that ask no upstream for the name once the repository has it, and what an administrator runs to undo that.
    pub closed_in: Vec<(Arc<Repository>, String)>,
}

impl Repositories {
    /// The known facts about these names. With `ask`, the upstreams of the groups of the repository are asked for their metadata, and
    /// learn the names.
    pub async fn known_names(
        &self,
        repository: &Arc<Repository>,
        folders: &[String],
        ask: bool,
        event: &mut Event,
    ) -> Result<Vec<KnownName>, Error> {
        if repository.record.kind != RepositoryKind::Hosted || repository.format != Format::Maven {
            let text = "the repository takes no artifacts: it is not hosted, or is of another format";
            let hint = "name a hosted repository of format `maven`; `daylight repo add NAME --format maven` adds one";
            return Err(BadSetting::new(text, hint).into());
        }
        if folders.len() > NAMES_MAX {
            let text = format!("a question has {NAMES_MAX} names at most, not {}", folders.len());
            return Err(BadSetting::new(text, "ask several times").into());
        }
        let table = self.table(event).await?;
        let groups = table.groups_with(repository.id);
        let mut known = Vec::with_capacity(folders.len());
        for folder in folders {
            let refused = || Error::NoSuchPath { path: Event::text(folder), format: repository.format.as_str() };
            repository.format.check_path(folder).map_err(|_| refused())?;
            let name = guard::named(folder).map(PackageVersion::upstream);
            let name = name.ok_or_else(refused)?;
            known.push(self.known_name(repository, &groups, folder, &name, event).await?);
        }
        if ask {
            self.ask_upstreams(&groups, &mut known, event).await;
        }
        Ok(known)
    }

    async fn known_name(
        &self,
        repository: &Arc<Repository>,
        groups: &[&Arc<Repository>],
        folder: &str,
        name: &PackageVersion<'_>,
        event: &mut Event,
    ) -> Result<KnownName, Error> {
        let (now, place) = (self.clock.now(), Arc::default());
        let mut known = KnownName {
            folder: folder.to_owned(),
            hosted: false,
            private: false,
            cached_by: Vec::new(),
            listed_by: Vec::new(),
            is_sure: false,
            closed_in: Vec::new(),
        };
        for group in groups {
            let commands = gives_path_back(group, repository, folder).map(|(_, commands)| commands).unwrap_or_default();
            known.closed_in.extend(commands.into_iter().map(|command| (Arc::clone(group), command)));
        }
        let (mut upstreams, mut private) = (BTreeMap::new(), true);
        for leaf in groups.iter().flat_map(|group| group.leaves.iter()).chain([repository]) {
            if is_hosted(leaf) {
                let group = self.group(repository, &place);
                known.hosted = known.hosted || group.ever_had_versions_below(leaf, folder, now, event).await?;
            } else {
                private &= leaf.rules.private(name).is_some();
                upstreams.entry(leaf.id).or_insert(leaf);
            }
        }
        known.private = private && !upstreams.is_empty();
        for leaf in upstreams.into_values() {
            if self.is_known_to_have(leaf, Guarded::Folder(folder), event).await? {
                known.cached_by.push(leaf.clone());
            }
        }
        Ok(known)
    }

    /// Whether an upstream is known to have something under a name: its metadata, or files that are cached. A build whose versions are
    /// fixed asks for no metadata.
    pub(crate) async fn is_known_to_have(
        &self,
        leaf: &Repository,
        name: Guarded<'_>,
        event: &mut Event,
    ) -> Result<bool, Error> {
        let folder = match name {
            Guarded::Folder(folder) => folder,
            Guarded::Path(path) => {
                let cached = self.store.lookup_cached(leaf.origin, path, self.clock.now(), event).await?;
                return Ok(matches!(cached, Some(CachedPath::File(..))));
            }
        };
        let presence = self.store.folder_presence(folder, event).await?;
        if presence.upstream(leaf.origin).is_some_and(|proven| proven.has) {
            return Ok(true);
        }
        let above = format!("{folder}/");
        let mut after = String::new();
        for _ in 0..FOLDERS {
            let rows = self.store.cached_files(leaf.origin, &above, &after, PAGE, event).await?;
            let below = |path: &str| {
                path[above.len()..].split_once('/').map(|(child, rest)| (child.len(), !rest.contains('/')))
            };
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

    /// Asks the upstreams of these groups for the metadata of each name, several at a time. A failure decides nothing.
    async fn ask_upstreams(&self, groups: &[&Arc<Repository>], known: &mut [KnownName], event: &mut Event) {
        let (now, place) = (self.clock.now(), Arc::default());
        let mut asked = BTreeMap::new();
        for group in groups {
            for leaf in group.leaves.iter().filter(|leaf| !is_hosted(leaf)) {
                for (at, one) in known.iter().enumerate() {
                    let name = guard::named(&one.folder).map(PackageVersion::upstream);
                    let is_private = name.is_none_or(|name| leaf.rules.private(&name).is_some());
                    if !is_private && !one.private {
                        let metadata = format!("{}/{}", one.folder, format::maven::path::METADATA);
                        asked.insert((at, leaf.id), (*group, leaf, metadata));
                    }
                }
            }
        }
        known.iter_mut().for_each(|one| one.is_sure = true);
        let calls = asked.into_iter().map(|((at, _), (group, leaf, metadata))| {
            let place = &place;
            async move {
                let answer = self.group(group, place).ask(leaf, &leaf.file(&metadata), now).await;
                let has = match answer.content {
                    Ok(_) => Some(true),
                    Err(error) if error.is_absence() => Some(false),
                    Err(_) => None,
                };
                (at, leaf, has)
            }
        });
        let mut calls = Concurrent::new(calls, self.remotes.width);
        let _asking = event.running(Op::FlightWait);
        while let Some((_, (at, leaf, has))) = calls.next().await {
            match has {
                Some(true) => known[at].listed_by.push(Arc::clone(leaf)),
                Some(false) => {}
                None => known[at].is_sure = false,
            }
        }
    }
}
