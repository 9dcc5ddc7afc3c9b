//! Hooks: an upstream, or somebody who publishes there, announces a change. The repository then looks at the upstream
//! until it confirms the change.
//!
//! [`body`] parses a hook, [`signature`] checks that its sender knows the repository's secret, and [`watch`] is the job
//! that looks again.

pub mod body;
mod call;
pub mod signature;
pub(crate) mod watch;

pub use call::HookCall;

use crate::access;
use crate::app::App;
use crate::config::SMALL_BODY_BYTES;
use crate::error::{Error, Result};
use crate::reply;
use body::HookBody;
use call::HookKind;
use front::{Reply, Request};
use http::header::{self, HeaderName};
use repository::{Announcement, Repository, Scope};
use std::collections::BTreeSet;
use std::sync::Arc;
use telemetry::{Event, Layer};

/// Maximum number of folders whose answers in memory are voided by a hook that names nothing.
const RECENT_MAX: usize = 1_000;

/// Answers a hook.
pub(crate) async fn answer(app: &App, call: HookCall, request: &mut Request, event: &mut Event) -> Result<Reply> {
    event.layer = Layer::Admin;
    event.subject.kind = "hook";
    access::refuse_cross_site(&request.headers)?;
    let known = app.repositories.table(event).await?;
    let missing = || Error::from(repository::Error::NoSuchRepository(call.repository.clone()));
    let repository = known.by_name.get(&call.repository).ok_or_else(missing)?;
    let readable = app.access.knows(request, repository, event).await?;
    // A caller who may not know that the repository exists gets no further information.
    let hidden = |error: Error| if readable { error } else { missing() };
    event.subject.repository = repository.record.name.as_str().into();
    let hook = match Box::pin(admit(app, &call, repository, readable, request, event)).await {
        Ok(hook) => hook,
        Err(error) => {
            repository.count_refused_hook();
            return Err(hidden(error));
        }
    };
    let mut announcement = hook.announcement(call.kind == HookKind::Removed);
    if repository.format.is_tree() && announcement == Announcement::default() {
        app.flush_sinks(event).await;
        announcement.recent = recent_folders(app);
    }
    event.detail = Event::text(&format!(
        "{} {}",
        announcement.package.as_deref().or(announcement.path.as_deref()).unwrap_or("anything"),
        announcement.version.as_deref().unwrap_or_default()
    ));
    app.repositories.take_hint(repository, &known.stamp, &announcement, event).await?;
    Ok(reply::accepted("the upstream is looked at\n"))
}

/// The announcement in a hook, if its sender may make it.
async fn admit(
    app: &App,
    call: &HookCall,
    repository: &Arc<Repository>,
    readable: bool,
    request: &mut Request,
    event: &mut Event,
) -> Result<HookBody> {
    let name = || repository.record.name.clone();
    let secret = match app.repositories.hook_secret(repository, event).await {
        Err(repository::Error::Setting(_)) => return Err(Error::HookSecretUnread(name())),
        secret => secret?,
    };
    if secret.is_none() {
        if !readable {
            return Err(Error::HookUnproven(name()));
        }
        if !is_from_here(request) {
            let writes = app.access.content(request, Scope::Write, repository, event).await;
            writes.map_err(|error| if error.is_of_password() { error.into() } else { Error::HookUnproven(name()) })?;
        }
    }
    if !repository.takes_hints() {
        let text = format!(
            "`{}` is hosted and needs no hooks: they are for remote repositories and groups",
            repository.record.name
        );
        return Err(Error::Input(text));
    }
    let body = request.upload.collect(SMALL_BODY_BYTES, event).await?;
    let hook = HookBody::read(&body);
    if let Some(secret) = secret {
        let named = hook.as_ref().ok();
        if !signature::is_right(&secret, &request.headers, &body, named) {
            return Err(Error::HookForged(name()));
        }
    }
    let hook = hook.map_err(Error::Input)?;
    if call.kind != HookKind::Any && hook.names_nothing() {
        return Err(Error::Input("the body names no package".into()));
    }
    Ok(hook)
}

/// Whether a request comes from this machine itself. A forwarded request does not, even if the proxy runs here and is
/// not trusted.
fn is_from_here(request: &Request) -> bool {
    let passed_on = [header::FORWARDED, HeaderName::from_static("x-forwarded-for"), header::VIA];
    request.client.to_canonical().is_loopback() && !passed_on.iter().any(|name| request.headers.contains_key(name))
}

/// The folders of the paths that clients requested recently in any repository, because groups answer with the files of
/// their members.
fn recent_folders(app: &App) -> Vec<String> {
    let mut folders = BTreeSet::new();
    for (path, _) in app.recent_paths.counts().paths {
        let below = path.strip_prefix("/repository/").and_then(|rest| rest.split_once('/')).map(|(_, below)| below);
        let folder = below.and_then(|below| below.rsplit_once('/')).map_or("", |(folder, _)| folder);
        if !folder.is_empty() && folders.len() < RECENT_MAX {
            folders.insert(folder.to_owned());
        }
    }
    folders.into_iter().collect()
}
