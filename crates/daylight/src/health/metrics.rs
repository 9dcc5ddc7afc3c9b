//! `/metrics`: what was counted, with the names that the caller may know.

use super::open_findings;
use crate::app::App;
use crate::error::{Error, Result};
use crate::reply;
use bytes::Bytes;
use front::{Reply, Request};
use repository::Scope;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::RepositoryId;
use telemetry::{Event, HostView, MetricsView, Op, RepositoryView, Tick};
use tokio::sync::oneshot;

/// Anybody may read metrics. A private repository is named only to callers whose token may observe it, and hosts of upstreams
/// and backends of applications to callers who may observe the whole server. A token that is not valid is no error, so that a scrape does not end with the token.
pub(crate) async fn answer(app: &App, request: &Request, event: &mut Event) -> Result<Reply> {
    let token = match app.access.token(request, event).await {
        Err(error) if error.is_of_doubt() => None,
        // The page tells that the server is not ready.
        Err(_) if !is_readable(app, event).await => None,
        token => token?,
    };
    let allows = |scope, of| token.as_ref().is_some_and(|token| token.allows(scope, of));
    let view = view(app, allows, event).await?;
    // Prometheus asks for it. The page is large, and most of it repeats.
    let gzip = front::takes_gzip(request);
    let (send, written) = oneshot::channel();
    let began = Tick::now();
    let waits = app.recorder.scrape(view, gzip, |page| drop(send.send(page)));
    waits.map_err(|_| Error::Busy { what: "requests for metrics", setting: None })?;
    let page = written.await;
    event.add(Op::MetricsWrite, Tick::now().since(began));
    Ok(reply::metrics(Bytes::from_owner(page.map_err(|_| Error::GivenUp)?), gzip))
}

/// The view of a reader who may know everything. `None`: the repositories cannot be read.
pub(crate) async fn whole_view(app: Arc<App>) -> Option<MetricsView> {
    view(&app, |_, _| true, &mut Event::job("otlp", app.clock.now())).await.ok()
}

/// The repositories and hosts, for a reader who has the scopes that `allows` tells: of a repository, or of the whole server.
pub(crate) async fn view(
    app: &App,
    allows: impl Fn(Scope, Option<RepositoryId>) -> bool,
    event: &mut Event,
) -> Result<MetricsView> {
    let hosts = app.repositories.upstreams(event).await;
    let readable = is_readable(app, event).await;
    // Without the database the metrics tell that the server is not ready, and name no repository and no host.
    let (hosts, table) = match hosts {
        Ok(hosts) => (hosts, Some(app.repositories.table(event).await?)),
        Err(_) if !readable => (Vec::new(), None),
        Err(error) => return Err(error.into()),
    };
    let repositories: BTreeMap<String, RepositoryView> = table
        .iter()
        .flat_map(|table| table.by_name.values())
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
    let ready = readable && app.watch.stuck().is_none();
    let findings = open_findings::shown(app.findings.open(), &repositories, named);
    Ok(MetricsView { repositories, hosts, backends_named: named, ready, findings })
}

async fn is_readable(app: &App, event: &mut Event) -> bool {
    matches!(app.store.unreadable(event).await, Ok(None))
}
