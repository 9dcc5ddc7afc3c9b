//! `/metrics`: what was counted, with the names that the caller may know.

use crate::app::App;
use crate::error::{Error, Result};
use crate::reply;
use bytes::Bytes;
use front::{Reply, Request};
use repository::Scope;
use std::collections::BTreeMap;
use telemetry::{Event, HostView, MetricsView, Op, RepositoryView, Tick};
use tokio::sync::oneshot;

/// Anybody may read metrics. A private repository is named only to callers whose token may observe it, and hosts of upstreams
/// and backends of applications to callers who may observe the whole server. A token that is not valid is no error, so that a scrape does not end with the token.
pub(crate) async fn answer(app: &App, request: &Request, event: &mut Event) -> Result<Reply> {
    let hosts = app.repositories.upstreams(event).await?;
    let table = app.repositories.table(event).await?;
    let token = app.access.token(request, event).await?;
    let allows = |scope, of| token.as_ref().is_some_and(|token| token.allows(scope, of));
    let repositories: BTreeMap<String, RepositoryView> = table
        .by_name
        .values()
        .map(|one| {
            let named = !one.record.private || allows(Scope::Observe, Some(one.id));
            let (format, kind) = (one.format.as_str(), one.record.kind.as_str());
            (one.record.name.clone(), RepositoryView { named, format, kind })
        })
        .collect();
    let (named, now) = (allows(Scope::Observe, None), app.clock.now());
    // A host without repositories is one that redirects lead to, or whose repositories were removed.
    let of_repositories = hosts.into_iter().filter(|(_, repositories)| !repositories.is_empty());
    let hosts = of_repositories
        .map(|(state, _)| {
            let circuit_open = state.circuit.refuses(now);
            (state.host, HostView { named, number: state.number, circuit_open })
        })
        .collect();
    let (send, written) = oneshot::channel();
    let began = Tick::now();
    let waits =
        app.recorder.scrape(MetricsView { repositories, hosts, backends_named: named }, |page| drop(send.send(page)));
    waits.map_err(|_| Error::Busy { what: "requests for metrics", setting: None })?;
    let page = written.await;
    event.add(Op::MetricsWrite, Tick::now().since(began));
    Ok(reply::metrics(Bytes::from_owner(page.map_err(|_| Error::GivenUp)?)))
}
