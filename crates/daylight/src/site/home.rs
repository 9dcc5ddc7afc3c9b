//! The first page for browsers: the repositories with their sizes, the first steps, and whether anything is wrong.

use super::listed::{about, first_fetch, first_steps, listed};
use super::{observer, shell};
use crate::app::App;
use crate::error::Result;
use crate::health::Health;
use crate::lookup::findings;
use client::{Circuit, HostState};
use front::{Reply, Request};
use insight::FindingState;
use repository::{Repository, ServerUrl};
use std::sync::Arc;
use store::RepositoryKind;
use telemetry::{Event, Millis};
use web::{Home, HomePage, HomeRepository, HomeUpstream};

/// The most repositories that the page lists.
pub(super) const LISTED: usize = 1_000;

/// The page.
pub(super) async fn page(app: &App, request: &Request, event: &mut Event) -> Result<Reply> {
    let caller = app.access.anyone(request, event).await?;
    let observes = observer::is(app, request, &caller);
    let server = app.urls.of(request).url();
    let table = app.repositories.table(event).await?;
    let mut repositories = listed(&caller, &table);
    let hidden = repositories.len() < table.by_name.len();
    let health = Health::of(app, event).await?;
    let mut home = Home { has_private: hidden && caller.token.is_none(), ..Home::default() };
    // Who does not see all repositories is not told that all are empty.
    let is_empty = |kind| {
        let mut all = repositories.iter().filter(|one| one.record.kind == kind).peekable();
        !hidden && all.peek().is_some() && all.all(|one| repository::holds(app.services(), one).files == 0)
    };
    home.first_push = is_empty(RepositoryKind::Hosted).then(|| first_steps(&server, &table));
    let fetch = if is_empty(RepositoryKind::Remote) { first_fetch(&server, &repositories) } else { String::new() };
    home.first_fetch = Some(fetch).filter(|lines| !lines.is_empty());
    home.more = repositories.len().saturating_sub(LISTED);
    repositories.truncate(LISTED);
    home.repositories = repositories.iter().map(|one| row(app, one)).collect();
    home.open = app.findings.overview().open;
    if observes {
        home.findings = findings::listed(app, FindingState::Open);
        home.pending = findings::listed(app, FindingState::Pending);
        home.promises = findings::kept_promises(app);
        home.checks = Some(findings::checks(app));
    }
    if let Some(why) = &health.read_only {
        home.troubles.push(format!("The server only reads: {why}"));
    }
    if health.behind > 0 {
        home.troubles.push(format!("Repositories that are behind their upstreams: {}", health.behind));
    }
    let now = app.clock.now();
    let bad: Vec<HomeUpstream> = health.upstreams.iter().filter_map(|host| upstream(host, now)).collect();
    if observes {
        (home.upstreams, home.free_bytes) = (bad, Some(app.store.free_bytes()));
    } else if !bad.is_empty() {
        home.troubles.push(format!("Upstreams that are paused or fail: {} of {}", bad.len(), health.upstreams.len()));
    }
    let shell = shell::of(app, "Overview", request, event).await?;
    shell::page(&HomePage { shell: &shell, home: &home }, event).await
}

fn row(app: &App, repository: &Arc<Repository>) -> HomeRepository {
    let (name, about) = (repository.record.name.clone(), about(repository));
    if repository.record.kind == RepositoryKind::Group {
        return HomeRepository { name, about, ..HomeRepository::default() };
    }
    let held = repository::holds(app.services(), repository);
    let (files, size_bytes) = (Some(held.files), Some(held.size_bytes));
    HomeRepository { name, about, packages: held.packages, files, size_bytes }
}

/// An upstream that is paused or fails. `None`: it does neither.
fn upstream((state, repositories): &(HostState, Vec<String>), now: Millis) -> Option<HomeUpstream> {
    let (words, until) = match (&state.circuit, state.paused_until.filter(|until| *until > now)) {
        (Circuit::Open { until, .. }, _) if now < *until => ("it failed repeatedly, and is not called", Some(*until)),
        (Circuit::Trial { .. }, _) => ("it failed repeatedly, and is called once as a trial", None),
        (_, Some(until)) => ("it asked for a pause", Some(until)),
        (Circuit::Closed { failures }, None) if *failures > 0 => ("its last calls failed", None),
        // Nobody called it since the circuit's time was over.
        (Circuit::Open { .. }, None) => ("its last calls failed", None),
        (Circuit::Closed { .. }, None) => return None,
    };
    Some(HomeUpstream {
        host: state.host.to_string(),
        repositories: repositories.clone(),
        state: words.into(),
        until: until.map(|until| until.to_string()),
        error: state.trouble.as_ref().map(|last| last.what.to_string()),
    })
}
