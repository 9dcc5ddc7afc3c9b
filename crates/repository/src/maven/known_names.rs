//! The known facts about the names of a folder before it is imported: a name that others have would be hidden from all builds.

use crate::bad_setting::BadSetting;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::group::concurrent::Concurrent;
use crate::group::is_hosted;
use crate::maven::guard;
use crate::policy::package_version::PackageVersion;
use crate::repository::Repository;
use crate::services::Services;
use crate::tree::facts::Guarded;
use crate::tree::hiding::is_known_to_have;
use crate::tree::kept_names::gives_back;
use crate::waiters::Place;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use store::{RepositoryId, RepositoryKind};
use telemetry::{Event, Op};
use tokio::time::timeout;

/// Most names in one question.
const NAMES_MAX: usize = 200;
/// Most names in one question to the upstreams: the command line sends so many.
const ASKED_MAX: usize = 20;
/// The time for all answers of the upstreams.
const ASKING: Duration = Duration::from_secs(20);

/// The known facts about a name of Maven artifacts, from the repositories that the caller may read.
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

/// A question whose names are known.
#[derive(Debug, Clone, Copy)]
pub struct NamesAsk<'a> {
    /// The hosted repository that they would be imported into.
    pub repository: &'a Arc<Repository>,
    /// Whether the upstreams of its groups are asked for their metadata, and learn the names.
    pub ask_upstreams: bool,
    /// The place that the request returns while it waits for upstreams.
    pub place: &'a Arc<Place>,
}

/// A group that the caller may read, and its members that the caller may read.
type Told<'a> = (&'a Arc<Repository>, Vec<&'a Arc<Repository>>);

/// The known facts about these names in the repository, and in the members of its groups as far as `may_read` allows both.
pub async fn known_names(
    services: &Services,
    ask: NamesAsk<'_>,
    folders: &[String],
    may_read: impl Fn(&Repository) -> bool,
    event: &mut Event,
) -> Result<Vec<KnownName>> {
    let NamesAsk { repository, ask_upstreams, place } = ask;
    if repository.record.kind != RepositoryKind::Hosted || repository.format != Format::Maven {
        let text = "the repository takes no artifacts: it is not hosted, or is of another format";
        let hint = "name a hosted repository of format `maven`; `daylight repo add NAME --format maven` adds one";
        return Err(BadSetting::new(text, hint).into());
    }
    let most = if ask_upstreams { ASKED_MAX } else { NAMES_MAX };
    if folders.len() > most {
        let to = if ask_upstreams { "to upstreams " } else { "" };
        let text = format!("a question {to}has {most} names at most, not {}", folders.len());
        return Err(BadSetting::new(text, "ask several times").into());
    }
    let table = services.table(event).await?;
    let all = table.groups_with(repository.id);
    let mut told = Vec::new();
    for group in &all {
        if may_read(group) {
            let leaves = group.leaves.iter().filter(|leaf| leaf.id != repository.id && may_read(leaf));
            told.push((*group, leaves.collect::<Vec<_>>()));
        }
    }
    // This must not depend on a name.
    let upstreams = |leaves: &[&Arc<Repository>]| leaves.iter().filter(|leaf| !is_hosted(leaf)).count();
    let count: usize = all.iter().map(|group| upstreams(&group.leaves.iter().collect::<Vec<_>>())).sum();
    let all_told = count == told.iter().map(|(_, leaves)| upstreams(leaves)).sum::<usize>();
    let mut known = Vec::with_capacity(folders.len());
    for folder in folders {
        let refused = || Error::NoSuchPath { path: Event::text(folder), format: repository.format.as_str() };
        repository.format.check_path(folder).map_err(|_| refused())?;
        let name = guard::named(folder).map(PackageVersion::upstream);
        let name = name.ok_or_else(refused)?;
        let mut one = known_name(services, repository, &told, folder, &name, event).await?;
        for group in &all {
            let commands = gives_back(group, folder).map(|(_, commands)| commands);
            one.closed_in.extend(commands.into_iter().flatten().map(|command| (Arc::clone(group), command)));
        }
        known.push(one);
    }
    if ask_upstreams {
        known.iter_mut().for_each(|one| one.is_sure = all_told);
        ask_all(services, &told, &mut known, place, event).await?;
    }
    Ok(known)
}

async fn known_name(
    services: &Services,
    repository: &Arc<Repository>,
    groups: &[Told<'_>],
    folder: &str,
    name: &PackageVersion<'_>,
    event: &mut Event,
) -> Result<KnownName> {
    let (now, place) = (services.clock.now(), Arc::default());
    let mut known = KnownName {
        folder: folder.to_owned(),
        hosted: false,
        private: false,
        cached_by: Vec::new(),
        listed_by: Vec::new(),
        is_sure: false,
        closed_in: Vec::new(),
    };
    let (mut upstreams, mut private) = (BTreeMap::new(), true);
    for leaf in groups.iter().flat_map(|(_, leaves)| leaves.iter().copied()).chain([repository]) {
        if is_hosted(leaf) {
            let group = services.group(repository, &place);
            known.hosted = known.hosted || group.ever_had_versions_below(leaf, folder, now, event).await?;
        } else {
            private &= leaf.rules.private(name).is_some();
            upstreams.entry(leaf.id).or_insert(leaf);
        }
    }
    known.private = private && !upstreams.is_empty();
    for leaf in upstreams.into_values() {
        if is_known_to_have(services, leaf, Guarded::Folder(folder), event).await? {
            known.cached_by.push(leaf.clone());
        }
    }
    Ok(known)
}

/// Asks the upstreams of these groups for the metadata of each name, several at a time. A failure decides nothing. As for a build, no
/// upstream is asked for a name that a hosted member of the group has or had, also one that the caller may not read.
async fn ask_all(
    services: &Services,
    groups: &[Told<'_>],
    known: &mut [KnownName],
    place: &Arc<Place>,
    event: &mut Event,
) -> Result<()> {
    let now = services.clock.now();
    let mut asked = BTreeMap::new();
    for (at, one) in known.iter_mut().enumerate().filter(|(_, one)| !one.private) {
        let metadata = format!("{}/{}", one.folder, format::maven::path::METADATA);
        let name = guard::named(&one.folder).map(PackageVersion::upstream);
        for (group, leaves) in groups {
            let guard = services.group(group, place).guard(&group.file(&metadata), now, event).await?;
            for leaf in leaves.iter().filter(|leaf| !is_hosted(leaf)) {
                if guard.blocks(leaf) {
                    // Where the caller may not know why, the upstream seems to lack the name.
                    one.is_sure &= !one.hosted;
                } else if name.as_ref().is_some_and(|name| leaf.rules.private(name).is_none()) {
                    asked.insert((at, leaf.id), (*group, *leaf, metadata.clone()));
                }
            }
        }
    }
    let mut unanswered: HashSet<(usize, RepositoryId)> = asked.keys().copied().collect();
    let calls = asked.into_iter().map(|(key, (group, leaf, metadata))| async move {
        let answer = services.group(group, place).ask(leaf, &leaf.file(&metadata), now).await;
        let has = match answer.content {
            Ok(_) => Some(true),
            Err(error) if error.is_absence() => Some(false),
            Err(_) => None,
        };
        (key, leaf, has)
    });
    let mut calls = Concurrent::new(calls, services.remotes.width);
    let _asking = event.running(Op::FlightWait);
    let all = async {
        while let Some((_, (key, leaf, has))) = calls.next().await {
            if has.is_some() {
                unanswered.remove(&key);
            }
            if has == Some(true) {
                known[key.0].listed_by.push(Arc::clone(leaf));
            }
        }
    };
    // What did not come in time is not known.
    let _ = timeout(ASKING, all).await;
    unanswered.into_iter().for_each(|(at, _)| known[at].is_sure = false);
    Ok(())
}
