//! `/api/v1/repositories/NAME/names`: whose the names of a folder are, as far as that is known, before it is imported.

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::route::Admin;
use front::{Request, client};
use repository::{KnownName, NamesAsk, Place, Repository, Scope, name_of_folder};
use schemars::JsonSchema;
use serde::Deserialize;
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

/// Answers a call of somebody who may publish in the repository.
pub(super) async fn show(app: &App, admin: &Admin, request: &mut Request, event: &mut Event) -> Result<Value, Error> {
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
    let known = repository::known_names(app.repositories.services(), ask, &folders, &may_read, event).await?;
    let names: Vec<Value> = known.iter().map(|name| to_json(name, ask_upstreams, may_read)).collect();
    Ok(json!({ "names": names }))
}

fn to_json(known: &KnownName, asked: bool, may_read: impl Fn(&Repository) -> bool) -> Value {
    let named = |members: &[Arc<Repository>]| -> Vec<String> {
        members.iter().map(|member| member.record.name.clone()).collect()
    };
    let listed = match known.listed_by.is_empty() {
        false => Some(true),
        true => (asked && known.is_sure).then_some(false),
    };
    // The command names the group.
    let closed_in = known.closed_in.iter().map(|(group, command)| {
        let shown = group.leaves.iter().chain([group]).all(|one| may_read(one));
        if shown {
            json!({ "group": group.record.name, "command": command })
        } else {
            json!({ "group": null, "command": null })
        }
    });
    json!({
        "folder": known.folder,
        "name": name_of_folder(&known.folder),
        "hosted": known.hosted,
        "private": known.private,
        "cached": !known.cached_by.is_empty(),
        "cached_by": named(&known.cached_by),
        "listed": listed,
        "listed_by": named(&known.listed_by),
        "closed_in": closed_in.collect::<Vec<_>>(),
    })
}
