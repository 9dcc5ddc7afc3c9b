//! The admin API: JSON in, JSON out, one file for each resource. The command line uses it.

mod alerts;
mod apps;
mod ask;
mod baseline;
mod cleanup;
mod clock;
mod cluster;
mod collisions;
mod contents;
mod curves;
mod exceptions;
mod explain;
mod findings;
mod frees;
mod journal;
mod names;
mod not_found;
mod openapi;
mod packages;
mod preview;
mod profile;
mod removal;
mod repositories;
mod requests;
mod sizing;
mod tail;
mod tokens;
mod upstreams;

pub(crate) use clock::Right;

use crate::app::App;
use crate::config::SMALL_BODY_BYTES;
use crate::error::{Error, Result};
use crate::findings::mutes;
use crate::lookup::event as lookup_event;
use crate::lookup::search;
use crate::nodes::{self, Others};
use crate::reply;
use crate::route::{Admin, AdminVerb, OwnVerb, ServerVerb as Verb};
use front::{Reply, Request};
use http::Method;
use repository::{Author, ServerUrl};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use telemetry::{Event, Layer, Op};

/// Answers one call of the API. The table of calls has the status.
pub(crate) async fn answer(app: &App, admin: Admin, request: &mut Request, event: &mut Event) -> Result<Reply> {
    event.layer = Layer::Admin;
    event.subject.kind = admin.id;
    let value = match admin.verb {
        AdminVerb::Own(OwnVerb::Tail) => {
            let query = request.query().unwrap_or_default().to_owned();
            return tail::answer(app, &query, request, event).await;
        }
        AdminVerb::Own(OwnVerb::Profile) => return profile::answer(app, request, event).await,
        AdminVerb::Own(OwnVerb::Ask) => return Ok(reply::of_json(ask::answer(app, request, event).await?)),
        AdminVerb::Own(OwnVerb::Names) => names::show(app, &admin, request, event).await?,
        AdminVerb::Own(OwnVerb::Explain) => {
            let query = request.query().unwrap_or_default().to_owned();
            explain::show(app, &query, request, event).await?
        }
        AdminVerb::Own(OwnVerb::Search) => {
            let found = search::search(app, request, event).await?;
            serde_json::to_value(found.unwrap_or_default()).map_err(|_| Error::GivenUp)?
        }
        AdminVerb::Repository(verb) => packages::show(app, (verb, &admin), request, event).await?,
        AdminVerb::Server(verb) => match call(app, (verb, &admin), request, event).await {
            Err(Error::Repository(repository::Error::NoSuchRepository(name))) => {
                return Err(no_such_repository(app, name, event).await);
            }
            value => value?,
        },
    };
    Ok(event.time(Op::ReplyMake, || reply::of_call(admin.status, &value)))
}

/// Executes a call. Every call needs a token with the scope of its verb, except that every token may revoke itself.
async fn call(app: &App, (verb, admin): (Verb, &Admin), request: &mut Request, event: &mut Event) -> Result<Value> {
    if verb == Verb::RevokeToken
        && let Some(by) = app.access.may_revoke(request, &admin.name, event).await?
    {
        return tokens::revoke(app, &admin.name, Author::of_client(&by, request.recorded_client), event).await;
    }
    if matches!(verb, Verb::Event | Verb::Findings) && nodes::is_of_node(app, request) {
        return of_node(app, (verb, admin), request, event).await;
    }
    let changes = !matches!(request.method, Method::GET | Method::HEAD);
    let caller = app.access.server(request, verb.scope(), changes, event).await?;
    let (by, name, path) = (caller.author(), admin.name.as_str(), admin.path.as_str());
    let query = request.query().unwrap_or_default().to_owned();
    let query = query.as_str();
    let server = app.urls.of(request).url();
    let server = server.as_str();
    match verb {
        Verb::Document => Ok(openapi::document(server)),
        Verb::Repositories => repositories::list(app, server, event).await,
        Verb::AddRepository => repositories::add(app, server, body(request, event).await?, by, event).await,
        Verb::Repository => repositories::show(app, server, name, event).await,
        Verb::ChangeRepository => repositories::change(app, server, name, body(request, event).await?, by, event).await,
        Verb::PreviewRepository => preview::show(app, name, body(request, event).await?, &caller, event).await,
        Verb::AddException => exceptions::add(app, name, body(request, event).await?, by, event).await,
        Verb::EndException => exceptions::end(app, name, path, by, event).await,
        Verb::CompactRepository => repositories::compact(app, server, name, by, event).await,
        Verb::CheckIndex => repositories::check_index(app, name, query, event).await,
        Verb::Collisions => collisions::list(app, name, query, event).await,
        Verb::AcceptIndex => repositories::accept_index(app, server, name, event).await,
        Verb::RemoveRepository => removal::remove(app, name, query, by, event).await,
        Verb::RestoreRepository => removal::restore(app, server, name, body(request, event).await?, by, event).await,
        Verb::Holding => removal::holding(app, name, event).await,
        Verb::Contents | Verb::ContentsBelow => contents::list(app, name, path, query, event).await,
        Verb::RemoveContents => contents::remove(app, name, path, &caller, event).await,
        Verb::RestoreContents => contents::restore(app, name, path, &caller, event).await,
        Verb::Cleanup => cleanup::cleanup(app, body(request, event).await?, &caller, event).await,
        Verb::Purge => cleanup::purge(app, name, body(request, event).await?, &caller, event).await,
        Verb::Clock => clock::repair(app, body(request, event).await?, by, event).await,
        Verb::Missing => not_found::list(app, name, query, event).await,
        Verb::ForgetAllMissing | Verb::ForgetMissing => not_found::forget(app, name, path, event).await,
        Verb::Journal => journal::list(app, query, &caller, event).await,
        Verb::Apps => Ok(apps::list(app)),
        Verb::PurgeApp => apps::purge(app, name, body(request, event).await?),
        Verb::Requests => Ok(requests::list(app)),
        Verb::Upstreams => upstreams::list(app, event).await,
        Verb::Cluster => Ok(cluster::show(app)),
        Verb::Event => lookup_event::find(app, name, Others::of(app, request)?.as_ref(), event).await,
        Verb::Findings => findings::list(app, query, Others::of(app, request)?.as_ref(), event).await,
        Verb::Checks => Ok(findings::checks(app).await),
        Verb::Alerts => Ok(alerts::list(app)),
        Verb::TestAlerts => alerts::test(app, body(request, event).await?).await,
        Verb::Curves => Ok(curves::list(app).await),
        Verb::Mute => mutes::add(app, path, body(request, event).await?, by, event).await,
        Verb::Unmute => mutes::remove(app, path, by, event).await,
        Verb::Baseline => baseline::show(app, query, event).await,
        Verb::Sizing => sizing::show(app, query, caller.token.as_ref().map_or(0, |token| token.class), event).await,
        Verb::Tokens => tokens::list(app, event).await,
        Verb::AddToken => tokens::add(app, body(request, event).await?, by, event).await,
        Verb::RevokeToken => tokens::revoke(app, name, by, event).await,
    }
}

/// Answers another node, which has checked what its caller may.
async fn of_node(app: &App, (verb, admin): (Verb, &Admin), request: &Request, event: &mut Event) -> Result<Value> {
    if verb == Verb::Event {
        return lookup_event::find(app, &admin.name, None, event).await;
    }
    let found = findings::here(app, request.query().unwrap_or_default()).await?;
    Ok(nodes::findings::of_node(found))
}

/// Decides about the clock on behalf of `by`, or only reports, for a command on a data folder.
pub(crate) async fn decide_about_clock(
    app: &App,
    right: Right,
    by: Option<Author<'_>>,
    event: &mut Event,
) -> Result<Value> {
    let before = clock::decide(app, right, by, event).await?;
    Ok(json!(clock::Clock::new(before, by.is_some(), false)))
}

/// Why there is no repository of that name. Only admins learn that one was removed.
async fn no_such_repository(app: &App, name: String, event: &mut Event) -> Error {
    match app.repositories.removed_repository(&name, event).await {
        Ok(Some(removal)) => Error::RepositoryRemoved { name, removal },
        _ => repository::Error::NoSuchRepository(name).into(),
    }
}

async fn body<T: DeserializeOwned>(request: &mut Request, event: &mut Event) -> Result<T> {
    let body = request.upload.collect(SMALL_BODY_BYTES, event).await?;
    serde_json::from_slice(&body).map_err(|error| Error::Input(format!("the JSON body cannot be read: {error}")))
}
