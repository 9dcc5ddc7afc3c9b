//! `/api/v1/repositories/NAME/names`: whose the names of a folder are, as far as that is known, before it is imported.

use crate::access;
use crate::app::App;
use crate::error::Result;
use crate::route::Admin;
use front::{Request, client};
use repository::{KnownName, NamesAsk, Place, Repository, Scope, name_of_folder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use telemetry::{Class, Event};

/// The body of the call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct NamesRequest {
    /// The folders of the names: `org/example/lamp`. With `ask_upstreams` at most 20.
    #[schemars(length(max = 200))]
    folders: Vec<String>,
    /// Whether to ask the upstreams for the metadata of each name. They learn the names.
    #[serde(default)]
    ask_upstreams: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct KnownNames {
    names: Vec<Name>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Name {
    folder: String,
    /// `GROUP:ARTIFACT`.
    #[schemars(with = "String")]
    name: Option<String>,
    /// Whether the repository, or a hosted member of a group with it, has or had the name. This and the other facts are from groups and
    /// members that the caller may read.
    hosted: bool,
    /// Whether private prefixes keep it from all upstreams of these groups.
    private: bool,
    /// Whether files of an upstream are cached under the name.
    cached: bool,
    /// The remote members that cached them.
    cached_by: Vec<String>,
    /// Whether an upstream has the name; null: not all were asked, because that was not wanted, the caller may not read one, or a hosted
    /// member has the name; or one did not answer within 20 seconds.
    listed: Option<bool>,
    listed_by: Vec<String>,
    /// The groups that ask no upstream for the name once the repository has it, and the command that undoes it. Null: the caller may not
    /// read the group and all of its members.
    closed_in: Vec<ClosedIn>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct ClosedIn {
    group: Option<String>,
    command: Option<String>,
}

/// Answers a call of somebody who may publish in the repository.
pub(super) async fn show(app: &App, admin: &Admin, request: &mut Request, event: &mut Event) -> Result<Value> {
    let place = app.enter(Class::Admin, request, event).await?;
    let place = Place::new(client(request.client), event.id, place); // given to others while this request waits for an upstream
    let found = app.access.repository(&app.repositories, &admin.name, request, event).await;
    if found.is_err() && app.access.token(request, event).await?.is_none() {
        return Err(access::Error::CredentialsMissing { scope: Scope::Write, repository: None }.into());
    }
    let (repository, _) = found?;
    let caller = app.access.content(request, Scope::Write, &repository, event).await?;
    event.subject.repository = repository.record.name.as_str().into();
    let NamesRequest { folders, ask_upstreams } = super::body(request, event).await?;
    let may_read = |other: &Repository| caller.reads(other);
    let ask = NamesAsk { repository: &repository, ask_upstreams, place: &place };
    let known = repository::known_names(app.services(), ask, &folders, &may_read, event).await?;
    let names = known.into_iter().map(|name| known_name(name, ask_upstreams, may_read));
    Ok(json!(KnownNames { names: names.collect() }))
}

/// A name with the facts that the caller may know.
fn known_name(known: KnownName, asked: bool, may_read: impl Fn(&Repository) -> bool) -> Name {
    let named = |members: Vec<Arc<Repository>>| -> Vec<String> {
        members.iter().map(|member| member.record.name.clone()).collect()
    };
    let KnownName { folder, hosted, private, cached_by, listed_by, is_sure, closed_in } = known;
    let listed = match listed_by.is_empty() {
        false => Some(true),
        true => (asked && is_sure).then_some(false),
    };
    // The command names the group.
    let closed_in = closed_in.into_iter().map(|(group, command)| {
        let shown = group.leaves.iter().chain([&group]).all(|one| may_read(one));
        ClosedIn { group: shown.then(|| group.record.name.clone()), command: shown.then_some(command) }
    });
    Name {
        name: name_of_folder(&folder),
        folder,
        hosted,
        private,
        cached: !cached_by.is_empty(),
        cached_by: named(cached_by),
        listed,
        listed_by: named(listed_by),
        closed_in: closed_in.collect(),
    }
}
