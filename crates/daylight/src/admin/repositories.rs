//! `/api/v1/repositories`.

use super::cleanup::Pruned;
use super::exceptions;
use super::preview::{Hidden, PreviewCached};
use crate::app::App;
use crate::config::duration;
use crate::conformance;
use crate::error::Result;
use crate::lookup::pagination::{self, PageQuery};
use crate::settings_patch::{RepositoryDefinition, SettingsPatch, format_names};
use repository::moment::Moment;
use repository::{
    Author, ChangedRepository as Changed, ClaimedOver, FollowedState, Held, HintFigures, KojiFigures, Repository,
    RepositoryRecord, Unconfirmed,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;
use store::RepositoryKind;
use telemetry::Event;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Repositories")]
pub(super) struct List {
    repositories: Vec<RepositoryValue>,
}

/// A repository with its settings.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Repository")]
pub(super) struct RepositoryValue {
    name: String,
    /// Where clients find it.
    url: String,
    #[schemars(extend("enum" = format_names()))]
    format: String,
    #[schemars(with = "String", extend("enum" = ["hosted", "remote", "group"]))]
    kind: RepositoryKind,
    /// Whether reading needs a token.
    private: bool,
    created: Moment,
    holds: Held,
    /// Of a group: since when each of `members` stands where it stands. The order of two was set at the later of their moments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Moment>")]
    members_since: Option<Vec<Moment>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FollowedState")]
    index: Option<FollowedState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "KojiFigures")]
    koji: Option<KojiFigures>,
    /// Why the last look at the Koji hub failed, while none has succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    koji_failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "HintFigures")]
    hooks: Option<HintFigures>,
    /// Since when a remote repository is behind its upstream, where that is some minutes. Null: it is not, as far as is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    behind_since: Option<Option<Moment>>,
    /// The settings as calls of the API take them, of which the document has the schemas.
    #[serde(flatten)]
    #[schemars(skip)]
    settings: Value,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangedRepository {
    #[serde(flatten)]
    repository: RepositoryValue,
    /// What changed, as the journal has it: `policy.deny: +rack -rake; private: true`. Empty: nothing.
    difference: String,
    /// The bytes that the change deletes and nothing else needs: those of snapshots that are no longer kept, or of the cached files of the
    /// former upstream. Absent if the change deletes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    frees_bytes: Option<u64>,
    /// When the last of them may be deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    frees_on: Option<Option<Moment>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PreviewCached")]
    cached: Option<PreviewCached>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Pruned")]
    pruned: Option<Pruned>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Hidden")]
    hosted: Option<Hidden>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    claimed_over: Vec<ClaimedOver>,
}

impl RepositoryValue {
    /// The value of a repository. `server` is the URL of the server.
    pub(super) fn new(app: &App, server: &str, repository: &Repository) -> Self {
        let (record, now) = (&repository.record, app.clock.now());
        let mut settings = match record.kind {
            RepositoryKind::Remote => json!({ "remote": remote_settings(record) }),
            RepositoryKind::Group => json!({ "members": record.members }),
            RepositoryKind::Hosted => repository.format.hosted_settings(record),
        };
        if repository.format.is_tree() {
            settings["listing"] = record.listing.unwrap_or(true).into();
        }
        if let Some(secret) = &record.hook_secret {
            settings["hook_secret"] = secret.as_str().into();
        }
        if let Some(policy) = &record.policy {
            settings["policy"] = exceptions::policy_json(policy);
        }
        if let Some(versions) = record.keep_versions {
            settings["keep_versions"] = versions.into();
        }
        if let Some(seconds) = record.keep_unused_s {
            settings["keep_unused"] = duration::show(Duration::from_secs(seconds)).into();
        }
        if !record.claims.is_empty() {
            settings["claims"] = json!(record.claims);
        }
        let since = || (0..record.members.len()).map(|at| Moment(record.member_since(at))).collect();
        Self {
            name: record.name.clone(),
            url: format!("{server}/repository/{}/", record.name),
            format: record.format.clone(),
            kind: record.kind,
            private: record.private,
            created: Moment(record.created),
            holds: repository::holds(app.services(), repository),
            members_since: (record.kind == RepositoryKind::Group).then(since),
            index: repository.followed(),
            koji: repository.koji_figures(),
            koji_failure: repository.koji_failure(),
            hooks: repository.hints(now),
            behind_since: (record.kind == RepositoryKind::Remote).then(|| repository.behind_since(now).map(Moment)),
            settings,
        }
    }
}

/// The settings of an upstream. Those of a Koji hub are shown whole, and it has no `urls`.
fn remote_settings(record: &RepositoryRecord) -> Value {
    let mut remote = json!(record.remote);
    if let (Some(koji), Some(shown)) = (record.koji(), remote.as_object_mut()) {
        shown.remove("urls");
        shown["koji"]["inherit"] = koji.inherit.into();
        shown["koji"]["duplicates"] = koji.rule().into();
    }
    remote
}

pub(super) async fn list(app: &App, server: &str, event: &mut Event) -> Result<Value> {
    let known = app.repositories.table(event).await?;
    let mut all: Vec<_> = known.by_name.values().collect();
    all.sort_by(|a, b| a.record.name.cmp(&b.record.name));
    let repositories = all.into_iter().map(|repository| RepositoryValue::new(app, server, repository));
    Ok(json!(List { repositories: repositories.collect() }))
}

pub(super) async fn show(app: &App, server: &str, name: &str, event: &mut Event) -> Result<Value> {
    let (repository, _) = app.repositories.find(name, event).await?;
    // Without its map the repository is shown all the same.
    drop(repository::load_koji(app.services(), name, event).await);
    Ok(json!(RepositoryValue::new(app, server, &repository)))
}

pub(super) async fn add(
    app: &App,
    server: &str,
    body: RepositoryDefinition,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Value> {
    body.settings()?.check_references(&app.references)?;
    let record = body.record(conformance::info_format(app.conformance))?;
    let hidden = repository::hidden_by_new(app.services(), &record, event).await?;
    if let Some(hidden) = hidden.filter(|_| !body.include_hosted) {
        let (name, hidden) = (record.name, Box::new(hidden));
        return Err(repository::Error::from(Unconfirmed::WouldHideHosted { name, hidden }).into());
    }
    let made = app.repositories.add(record, by, event).await?;
    Ok(json!(RepositoryValue::new(app, server, &made)))
}

pub(super) async fn change(
    app: &App,
    server: &str,
    name: &str,
    body: SettingsPatch,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Value> {
    body.check_references(&app.references)?;
    let info_format = body.info_format()?;
    let claimed = app.repositories.find(name, event).await?.0.record.claims.clone();
    let set = app.repositories.set_deciding(name, |record| body.apply(record), body.decisions(), by, event);
    let Changed { repository: mut changed, former, frees, pruned, hidden, difference } = set.await?;
    if body.changes_urls() {
        repository::pin_anew(app.services(), name, event).await?;
    }
    if let Some(info_format) = info_format {
        changed = repository::reform(app.services(), name, info_format, by, event).await?;
    }
    let claims: Vec<String> = changed.record.claims.iter().filter(|name| !claimed.contains(name)).cloned().collect();
    let former = former.filter(|former| former.files > 0);
    Ok(json!(ChangedRepository {
        repository: RepositoryValue::new(app, server, &changed),
        difference,
        frees_bytes: frees.map(|frees| frees.size_bytes),
        frees_on: frees.map(|frees| frees.on.map(Moment)),
        cached: former.map(|former| PreviewCached::new(former, body.decisions().former_files)),
        pruned: pruned.and_then(Pruned::of),
        hosted: hidden.map(Hidden::from),
        claimed_over: repository::claimed_over(app.services(), &changed, &claims, event).await?,
    }))
}

pub(super) async fn compact(app: &App, server: &str, name: &str, by: Author<'_>, event: &mut Event) -> Result<Value> {
    let now = app.clock.now();
    let compacted = repository::rebuild_versions(app.services(), name, now, by, event).await?;
    Ok(json!(RepositoryValue::new(app, server, &compacted)))
}

/// Believes an index of the upstream that is held back. Where the upstream fails now, it is told as accepted, and counts later.
pub(super) async fn accept_index(app: &App, server: &str, name: &str, event: &mut Event) -> Result<Value> {
    let repository = repository::accept_index(app.services(), name, event).await?;
    Ok(json!(RepositoryValue::new(app, server, &repository)))
}

pub(super) async fn check_index(app: &App, name: &str, query: &str, event: &mut Event) -> Result<Value> {
    let PageQuery { after, limit } = pagination::read(query)?;
    Ok(json!(repository::check_index(app.services(), name, &after, limit, event).await?))
}
