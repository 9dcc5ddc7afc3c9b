//! `/api/v1/repositories/NAME/preview`: which requests of the last day would get another answer with changed settings. It changes nothing
//! and asks no upstream.

use super::cleanup::Pruned;
use crate::access::Caller;
use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::explain::{content, explain};
use crate::route::Content;
use crate::settings_patch::SettingsPatch;
use repository::moment::Moment;
use repository::{Cached, FormerFiles, HiddenHosted, KojiForeseen, OwnerChanges, Repository, RepositoryTable};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use store::RepositoryId;
use telemetry::{Event, MemberRecord, MemberSaid};

/// Most paths that are compared, the most requested ones.
const PATHS_MAX: usize = 1_000;

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Resolution {
    /// 0: the status depends on the upstream of the member.
    status: u16,
    /// The member that has it, or whose upstream would be asked. Several, in their order, for a document that is merged from them.
    members: Vec<String>,
}

impl Resolution {
    /// Whether this member alone decides it.
    fn is_of(&self, name: &str) -> bool {
        matches!(&self.members[..], [member] if member == name)
    }

    fn resolved(&self) -> Resolved {
        Resolved { status: self.status, member: self.members.first().cloned() }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Preview {
    /// Since when requests are looked at.
    since: Moment,
    /// How many paths of this repository, and of groups that hold it, were asked for and looked at.
    paths: usize,
    /// How many that were asked for less were not looked at.
    left_out: usize,
    /// The requests that would get another answer, the most frequent first.
    changes: Vec<PreviewChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PreviewCached")]
    cached: Option<PreviewCached>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Pruned")]
    pruned: Option<Pruned>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Hidden")]
    hosted: Option<Hidden>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "OwnerChanges")]
    owners: Option<OwnerChanges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "KojiForeseen")]
    koji: Option<KojiForeseen>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PreviewChange {
    path: String,
    /// How often it was asked for, about.
    requests: u64,
    before: Option<Resolved>,
    after: Option<Resolved>,
}

/// How a request is answered from known facts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Resolved {
    /// 0: the member's upstream would be asked.
    status: u16,
    /// Who has it, or would be asked.
    member: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PreviewCached {
    #[serde(flatten)]
    cached: Cached,
    /// How many would be lost, or were, as `keep_cached` says.
    lost_files: u64,
    lost_bytes: u64,
}

/// What the policy of a group would hide, or hides, of its hosted members. Absent: nothing, now or later. `include_hosted` confirms it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HiddenHosted")]
pub(super) struct Hidden {
    /// The hosted members whose versions get stricter rules.
    members: Vec<String>,
    /// How many versions that are visible now would be hidden.
    versions: u64,
    /// The first 10 of them.
    named: Vec<String>,
    /// The same in words, with the cooldown of later versions.
    text: String,
}

/// Whether the two answers are the same. The order of members matters to a merged document only if a name gets another owner.
fn same(old: &Option<Resolution>, new: &Option<Resolution>, owners_change: bool) -> bool {
    let sorted = |one: &Resolution| {
        let mut members = one.members.clone();
        members.sort_unstable();
        (one.status, members)
    };
    old == new || !owners_change && old.as_ref().map(sorted) == new.as_ref().map(sorted)
}

pub(super) async fn show(
    app: &App,
    name: &str,
    body: SettingsPatch,
    caller: &Caller,
    event: &mut Event,
) -> Result<Value> {
    let former_files = body.decisions().former_files;
    let before = app.repositories.table(event).await?;
    let after = app.repositories.with_settings(name, |record| body.apply(record), event).await?;
    let id = app.repositories.find(name, event).await?.0.id;
    app.flush_sinks(event).await;
    let recent = app.recent_paths.counts();
    drop(repository::load_koji(app.services(), name, event).await);
    let owners = repository::owner_changes(app.services(), &before, &after, id, event).await?;
    let owners_change = owners.as_ref().is_some_and(|changes| changes.count > 0);
    let (mut looked_at, mut left_out, mut changes) = (0, 0, Vec::new());
    for (path, count) in recent.paths {
        let Ok(url) = content(&path) else { continue };
        if ![&*before, &after].iter().any(|table| holds(table, &url, id)) {
            continue;
        }
        if looked_at == PATHS_MAX {
            left_out += 1;
            continue;
        }
        looked_at += 1;
        let old = resolve(app, &before, &url, caller, event).await?;
        let mut new = resolve(app, &after, &url, caller, event).await?;
        // Of the new upstream nothing is cached yet. What stays of the former one is answered as before.
        if let (FormerFiles::KeepVerified, Some(now), Some(was)) = (former_files, before.by_name.get(name), &old)
            && new.as_ref().is_some_and(|new| new.status == 0 && new.is_of(name))
            && was.status == 200
            && was.is_of(name)
            && repository::stays_cached(app.services(), now, &url.path, event).await?
        {
            new.clone_from(&old);
        }
        if !same(&old, &new, owners_change) {
            let [before, after] = [old, new].map(|one| one.as_ref().map(Resolution::resolved));
            changes.push(PreviewChange { path, requests: count, before, after });
        }
    }
    let (now, then) = (before.by_name.get(name), after.by_name.get(name));
    let (mut cached, mut pruned, mut koji) = (None, None, None);
    if let (Some(now), Some(then)) = (now, then) {
        cached = repository::former_files(app.services(), now, then, event).await?;
        koji = now.koji_foreseen(then);
        if now.record.retention != then.record.retention && then.record.retention.is_some() {
            pruned = Pruned::of(app.repositories.prune_plan(then, event).await?);
        }
    }
    Ok(json!(Preview {
        since: Moment(recent.since),
        paths: looked_at,
        left_out,
        changes,
        cached: cached.map(|cached| PreviewCached::new(cached, former_files)),
        pruned,
        hosted: repository::hidden_hosted(app.services(), &before, &after, name, event).await?.map(Hidden::from),
        owners,
        koji,
    }))
}

impl PreviewCached {
    /// The cached files of an upstream whose URL changes.
    pub(super) fn new(cached: Cached, decided: FormerFiles) -> Self {
        let (lost_files, lost_bytes) = cached.lost(decided);
        Self { cached, lost_files, lost_bytes }
    }
}

impl From<HiddenHosted> for Hidden {
    fn from(hidden: HiddenHosted) -> Self {
        let text = hidden.describe();
        let HiddenHosted { members, versions, named, .. } = hidden;
        Self { members, versions, named, text }
    }
}

/// Whether a URL names this repository, or a group that contains it.
fn holds(table: &RepositoryTable, url: &Content, id: RepositoryId) -> bool {
    let of = |one: &Arc<Repository>| one.id == id || one.leaves.iter().any(|leaf| leaf.id == id);
    table.by_name.get(&url.repository).is_some_and(of)
}

/// The answer to a GET of a URL; `None`: it depends on a query, or the URL does not exist.
async fn resolve(
    app: &App,
    table: &RepositoryTable,
    url: &Content,
    caller: &Caller,
    event: &mut Event,
) -> Result<Option<Resolution>> {
    let Some(repository) = table.by_name.get(&url.repository) else { return Ok(None) };
    let explained =
        match explain(app, url, None, repository.clone(), table.settings_of(repository.id), caller, event).await {
            Ok(Some(explained)) => explained.event,
            Ok(None) | Err(Error::Repository(_) | Error::MethodNotAllowed { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
    let open = explained.outcome.is_none();
    let decides = |one: &&MemberRecord| match one.said {
        MemberSaid::Hit | MemberSaid::Stale => !open,
        MemberSaid::Unknown => open,
        _ => false,
    };
    let members = explained.members.iter().filter(decides).map(|one| one.member.clone()).collect();
    Ok(Some(Resolution { status: explained.status, members }))
}
