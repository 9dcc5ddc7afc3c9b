//! Names that stay with a hosted repository although nothing of them is left there: no removal gives a name back to upstreams, because
//! then anybody could publish it there. An administrator gives it back with a command, which the answer to the removal names.

use crate::error::Result;
use crate::format::rules::NamePlace;
use crate::group::is_hosted;
use crate::repository::Repository;
use crate::services::Services;
use crate::tree::facts::Guarded;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{Entry, Lane, State};
use telemetry::{Event, Millis};

/// Most names that one answer has.
const NAMES_MAX: usize = 100;
/// Most names that are looked at for one answer.
const LOOKED_AT_MAX: usize = 10_000;
/// Number of entries that one read of the store returns.
const PAGE: usize = 1_000;

/// A name that a group asks no upstream for, although no hosted member has a version of it any more.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KeptName {
    /// The name of a package, or the path of a file.
    pub name: String,
    /// The group.
    #[serde(serialize_with = "name_of")]
    #[schemars(with = "String")]
    pub group: Arc<Repository>,
    /// The commands with which an administrator gives the name back to upstreams.
    pub commands: Vec<String>,
}

/// A function of a format: a name as people read it, and the commands that make it an upstream's again; `None`: it is, or never will
/// be.
pub(crate) type GivesBack = fn(&Repository, &str) -> Option<(String, Vec<String>)>;

fn name_of<S: Serializer>(group: &Arc<Repository>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&group.record.name)
}

impl KeptName {
    /// The notice about these names for the caller of a removal; `None`: there are none. Repositories that are private are named to
    /// administrators alone.
    pub(crate) fn notice(kept: &[Self], is_admin: bool) -> Option<String> {
        let Self { name, group, commands } = kept.first()?;
        let more = match kept.len() {
            1 => String::new(),
            many => format!(" (and {} more)", many - 1),
        };
        let asks =
            |group: &str| format!("nothing of `{name}`{more} is left, and {group} still asks no upstream for it");
        let text = match is_admin || !group.leaves.iter().chain([group]).any(|one| one.record.private) {
            true => {
                let commands: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
                let gives = if commands.len() == 1 { "gives" } else { "give" };
                format!(
                    "{}; {} {gives} the name back",
                    asks(&format!("the group `{}`", group.record.name)),
                    commands.join(" and ")
                )
            }
            false => format!("{}; an administrator can give the name back", asks("a group")),
        };
        Some(text)
    }
}

/// The names of the files at `path` and below it that were deleted at this moment. The deletion is committed, so a failure only
/// shortens its answer.
pub(crate) async fn kept_below(
    services: &Services,
    gives_back: GivesBack,
    repository: &Repository,
    path: &str,
    at: Millis,
    event: &mut Event,
) -> Vec<KeptName> {
    let (mut names, mut after) = (BTreeSet::new(), String::new());
    loop {
        let Ok(rows) = services.store.entries_beginning(repository.id, path, &after, PAGE, event).await else { break };
        let gone = rows.iter().filter(|entry| entry.state == State::Withdrawn && entry.changed == at);
        names.extend(gone.filter_map(|entry| kept_by(repository, entry)));
        match rows.last() {
            Some(last) if rows.len() == PAGE && names.len() < LOOKED_AT_MAX => after.clone_from(&last.key),
            _ => break,
        }
    }
    kept(services, gives_back, repository, names, event).await.unwrap_or_default()
}

/// The names of these removed entries.
pub(crate) async fn kept_of(
    services: &Services,
    gives_back: GivesBack,
    repository: &Repository,
    entries: &[Entry],
    event: &mut Event,
) -> Vec<KeptName> {
    let names = entries.iter().filter_map(|entry| kept_by(repository, entry)).collect();
    kept(services, gives_back, repository, names, event).await.unwrap_or_default()
}

/// The names of removed entries with these units.
pub(crate) async fn kept_of_units(
    services: &Services,
    gives_back: GivesBack,
    repository: &Repository,
    units: BTreeSet<String>,
    event: &mut Event,
) -> Vec<KeptName> {
    let names = units.iter().map(|unit| repository.format.rules().kept_by_unit(unit)).collect();
    kept(services, gives_back, repository, names, event).await.unwrap_or_default()
}

/// The names among these, in the form of the format, of which nothing is left.
async fn kept(
    services: &Services,
    gives_back: GivesBack,
    repository: &Repository,
    names: BTreeSet<String>,
    event: &mut Event,
) -> Result<Vec<KeptName>> {
    let table = services.table(event).await?;
    let groups = table.groups_with(repository.id).into_iter();
    let groups: Vec<_> = groups.filter(|group| group.leaves.iter().any(|leaf| has_upstream(leaf))).collect();
    let mut kept = Vec::new();
    for name in names.iter().take(LOOKED_AT_MAX) {
        for group in &groups {
            let Some((name_of, commands)) = gives_back(group, name) else { continue };
            if kept.len() < NAMES_MAX && !is_there(services, group, name, event).await? {
                kept.push(KeptName { name: name_of, group: Arc::clone(group), commands });
            }
        }
    }
    Ok(kept)
}

/// Whether a hosted member has something under a name.
async fn is_there(services: &Services, group: &Repository, name: &str, event: &mut Event) -> Result<bool> {
    let (store, is_live) = (&services.store, |entry: &Entry| entry.state == State::Live);
    for leaf in group.leaves.iter().filter(|leaf| is_hosted(leaf)) {
        let is_there = match leaf.format.rules().name_place(name) {
            NamePlace::Unit(unit) => store.unit(leaf.id, unit, Lane::Single, event).await?.entries.iter().any(is_live),
            NamePlace::Key(key) => store.entry(leaf.id, key, event).await?.as_ref().is_some_and(is_live),
            NamePlace::Folder(folder) => {
                let above = format!("{folder}/");
                let rows = store.live_entries_beginning(leaf.id, &above, "", PAGE, event).await?;
                let is_in_subfolder = |entry: &Entry| entry.key[above.len()..].matches('/').count() == 1;
                rows.len() == PAGE || rows.iter().any(is_in_subfolder)
            }
        };
        if is_there {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The name that an entry keeps from upstreams.
fn kept_by(repository: &Repository, entry: &Entry) -> Option<String> {
    match repository.format.rules().name_place(&entry.unit) {
        NamePlace::Unit(unit) => Some(unit.to_owned()),
        NamePlace::Folder(_) | NamePlace::Key(_) => repository
            .file(&entry.key)
            .guarded()
            .next()
            .map(|(Guarded::Folder(name) | Guarded::Path(name))| name.to_owned()),
    }
}

/// Whether the upstream of a member is set.
pub(crate) fn has_upstream(leaf: &Repository) -> bool {
    leaf.record.remote.as_ref().is_some_and(|remote| remote.is_set())
}
