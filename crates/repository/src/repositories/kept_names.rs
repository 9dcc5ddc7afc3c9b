//! Names that stay with a hosted repository although nothing of them is left there: no removal gives a name back to upstreams, because
//! then anybody could publish it there. An administrator gives it back with a command, which the answer to the removal names.

use crate::error::Error;
use crate::format::Format;
use crate::group::is_hosted;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::share_command::share_command;
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::tree::file::Guarded;
use format::tree;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{Entry, Lane, RepositoryId, State};
use telemetry::{Event, Millis};

/// Most names that one answer has.
const NAMES_MAX: usize = 100;
/// Most names that are looked at for one answer.
const LOOKED_AT_MAX: usize = 10_000;
/// Number of entries that one read of the store returns.
const PAGE: usize = 1_000;

/// A name that a group asks no upstream for, although no hosted member has a version of it any more.
#[derive(Debug, Clone)]
pub struct KeptName {
    /// The name: `org.example:lamp`, a gem's name, or the path of a raw file.
    pub name: String,
    /// The group.
    pub group: Arc<Repository>,
    /// What an administrator runs to give the name back to the upstreams of the group.
    pub commands: Vec<String>,
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

impl Repositories {
    /// The names of the files at `path` and below it that were deleted at this moment. The deletion is committed, so a failure only
    /// shortens its answer.
    pub(crate) async fn kept_below(
        &self,
        repository: &Repository,
        path: &str,
        at: Millis,
        event: &mut Event,
    ) -> Vec<KeptName> {
        let (mut names, mut after) = (BTreeSet::new(), String::new());
        loop {
            let Ok(rows) = self.store.entries_beginning(repository.id, path, &after, PAGE, event).await else { break };
            let gone = rows.iter().filter(|entry| entry.state == State::Withdrawn && entry.changed == at);
            names.extend(gone.filter_map(|entry| guard(repository, entry)));
            match rows.last() {
                Some(last) if rows.len() == PAGE && names.len() < LOOKED_AT_MAX => after.clone_from(&last.key),
                _ => break,
            }
        }
        self.kept(repository, names, event).await.unwrap_or_default()
    }

    /// The names of these removed entries.
    pub(crate) async fn kept_of(&self, repository: &Repository, entries: &[Entry], event: &mut Event) -> Vec<KeptName> {
        let names = entries.iter().filter_map(|entry| guard(repository, entry)).collect();
        self.kept(repository, names, event).await.unwrap_or_default()
    }

    /// The names of removed entries with these units: names of gems, or folders of versions.
    pub(crate) async fn kept_of_units(
        &self,
        repository: &Repository,
        units: BTreeSet<String>,
        event: &mut Event,
    ) -> Vec<KeptName> {
        let names = match repository.format {
            Format::Gem => units,
            Format::Maven | Format::Raw => units.iter().map(|folder| tree::folder(folder).to_owned()).collect(),
        };
        self.kept(repository, names, event).await.unwrap_or_default()
    }

    /// The names among these, as [`guard`] has them, of which nothing is left.
    async fn kept(
        &self,
        repository: &Repository,
        names: BTreeSet<String>,
        event: &mut Event,
    ) -> Result<Vec<KeptName>, Error> {
        let table = self.table(event).await?;
        let groups = table.groups_with(repository.id).into_iter();
        let groups: Vec<_> = groups.filter(|group| group.leaves.iter().any(|leaf| has_upstream(leaf))).collect();
        let mut kept = Vec::new();
        for name in names.iter().take(LOOKED_AT_MAX) {
            for group in &groups {
                let commands = match repository.format {
                    Format::Gem => gives_gem_back(group, name),
                    Format::Maven | Format::Raw => gives_path_back(group, repository, name),
                };
                let Some((name_of, commands)) = commands else { continue };
                if kept.len() < NAMES_MAX && !self.is_there(group, name, event).await? {
                    kept.push(KeptName { name: name_of, group: Arc::clone(group), commands });
                }
            }
        }
        Ok(kept)
    }

    /// Whether a hosted member has something under a name.
    async fn is_there(&self, group: &Repository, name: &str, event: &mut Event) -> Result<bool, Error> {
        for leaf in group.leaves.iter().filter(|leaf| is_hosted(leaf)) {
            let is_there = match leaf.format {
                Format::Gem => self.has_live(leaf.id, name, event).await?,
                Format::Raw => {
                    let entry = self.store.entry(leaf.id, name, event).await?;
                    entry.is_some_and(|entry| entry.state == State::Live)
                }
                Format::Maven => {
                    let above = format!("{name}/");
                    let rows = self.store.live_entries_beginning(leaf.id, &above, "", PAGE, event).await?;
                    // Folders further down are those of other artifacts.
                    let is_version = |entry: &Entry| entry.key[above.len()..].matches('/').count() == 1;
                    rows.len() == PAGE || rows.iter().any(is_version)
                }
            };
            if is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn has_live(&self, id: RepositoryId, unit: &str, event: &mut Event) -> Result<bool, Error> {
        let rows = self.store.unit(id, unit, Lane::Single, event).await?;
        Ok(rows.entries.iter().any(|entry| entry.state == State::Live))
    }
}

fn has_upstream(leaf: &Repository) -> bool {
    leaf.record.remote.as_ref().is_some_and(|remote| !remote.urls.is_empty())
}

/// What keeps the name of an entry from upstreams: the name of a gem, the folder of a Maven artifact, or the path of a raw file.
fn guard(repository: &Repository, entry: &Entry) -> Option<String> {
    match repository.file(&entry.key).guarded().next() {
        Some(Guarded::Folder(name) | Guarded::Path(name)) => Some(name.to_owned()),
        None => (repository.format == Format::Gem).then(|| entry.unit.clone()),
    }
}

/// The name of a folder or a path, and the command that has upstreams asked for it; `None`: they are asked, or never will be.
pub(super) fn gives_path_back(
    group: &Repository,
    repository: &Repository,
    name: &str,
) -> Option<(String, Vec<String>)> {
    let guarded = if repository.format == Format::Raw { Guarded::Path(name) } else { Guarded::Folder(name) };
    let what = repository.file(name).guarded_name(guarded)?.upstream();
    let is_kept =
        |leaf: &Repository| has_upstream(leaf) && !leaf.rules.shares(&what) && leaf.rules.private(&what).is_none();
    let command = || share_command(&group.record, &what.to_string());
    group.leaves.iter().any(|leaf| is_kept(leaf)).then(|| (what.to_string(), vec![command()]))
}

/// The commands that make a gem an upstream's again.
fn gives_gem_back(group: &Repository, name: &str) -> Option<(String, Vec<String>)> {
    let what = PackageVersion::gem(name, "", Since::Always).upstream();
    let is_kept = |leaf: &&Arc<Repository>| {
        has_upstream(leaf) && !leaf.rules.shares(&what) && leaf.rules.private(&what).is_none()
    };
    let lists = |leaf: &&Arc<Repository>| {
        leaf.shared.followed.read(leaf.origin, |known| known.listing.log().has(name)) == Some(true)
    };
    let remotes = || group.leaves.iter().filter(is_kept);
    let upstream = remotes().find(lists).or_else(|| remotes().next())?;
    let claims = |leaf: &&Arc<Repository>| leaf.record.claims(name);
    let ours = group.leaves.iter().filter(|leaf| is_hosted(leaf)).filter(claims);
    let mut commands: Vec<String> =
        ours.map(|leaf| format!("daylight repo set {} --unclaim {name}", leaf.record.name)).collect();
    if !remotes().any(|leaf| claims(&leaf)) {
        commands.push(format!("daylight repo set {} --claim {name}", upstream.record.name));
    }
    (!commands.is_empty()).then(|| (name.to_owned(), commands))
}
