//! The applications in front of which the server stands, and the paths that took longest.

use crate::app::App;
use crate::error::Result;
use crate::lookup::ask_events::ask;
use apps::{AppView, BackendView, CacheView, LaneView, PageServerView, PagesView};
use insight::{Column, Figure, Filter, Is, Key, Measure, Order, Question, Value};
use std::sync::Arc;
use telemetry::{By, Class, Event, Metric, Millis, PageOutcome};
use web::{AppBackend, AppLane, AppPageServer, AppPages, Apps, PageRequests, SlowPath, StoredResponses};

/// How far back the slowest paths are looked for, in milliseconds.
const RECENT_MS: i64 = 5 * 60 * 1000;
/// How many paths are told.
const SLOW_PATHS: usize = 10;
/// How long a page waits for them, in milliseconds.
const WAIT_MS: u64 = 1_000;
/// The part of the requests for a path that began within the time that is told.
const PART: f64 = 0.95;

/// The applications that this process serves.
pub(crate) fn list(app: &App) -> Apps {
    let views = app.apps.get().into_iter().flat_map(|apps| apps.views());
    Apps { apps: views.map(|(url, view)| one(url, view)).collect() }
}

/// Has metrics tell which servers of pages are up.
pub(crate) fn record(app: &Arc<App>) {
    let doc = "1 while a server that keeps the pages of an application is asked";
    let weak = Arc::downgrade(app);
    app.recorder.figures(Metric::gauge("app_page_server_up", doc), By::Label("which"), move || {
        let Some(app) = weak.upgrade() else { return Vec::new() };
        let views = app.apps.get().into_iter().flat_map(|apps| apps.views());
        views.flat_map(|(_, view)| page_servers(view)).collect()
    });
}

/// The servers that keep the pages of an application, each by its number, as the bounds of its connections have it.
fn page_servers(view: AppView) -> impl Iterator<Item = (String, f64)> {
    let (name, servers) = (view.name, view.pages.map(|pages| pages.servers).unwrap_or_default());
    let up = |up| if up { 1.0 } else { 0.0 };
    servers.into_iter().enumerate().map(move |(at, server)| (format!("{name}/{}", at + 1), up(server.up)))
}

fn one(url: &str, view: AppView) -> web::App {
    let AppView { name, hosts, starting, slots, lanes, backends, streams, spool_bytes, spool_max_bytes, .. } = view;
    let (cache, pages) = (view.cache.map(stored), view.pages.map(pages));
    let lane = |LaneView { paths, slots, busy, waiting }| AppLane { paths, slots: slots as u64, busy, waiting };
    let backend =
        |BackendView { url, up, trouble, busy, connections }| AppBackend { url, up, trouble, busy, connections };
    web::App {
        name,
        url: url.to_owned(),
        hosts,
        starting,
        slots: slots as u64,
        lanes: lanes.into_iter().map(lane).collect(),
        backends: backends.into_iter().map(backend).collect(),
        streams,
        spool_bytes,
        spool_max_bytes,
        cache,
        pages,
    }
}

fn stored(cache: CacheView) -> StoredResponses {
    let CacheView { bytes, max_bytes, responses, hits, lookups } = cache;
    StoredResponses { bytes, max_bytes, responses, hits, lookups }
}

fn pages(pages: PagesView) -> AppPages {
    let PagesView { format, requests, bytes, max_bytes, servers } = pages;
    let counted = |(name, requests): (&str, u64)| {
        let outcome = PageOutcome::read(name);
        let meaning = outcome.map_or("", PageOutcome::doc).to_owned();
        PageRequests { outcome: name.to_owned(), meaning, is_hit: outcome.is_some_and(PageOutcome::is_hit), requests }
    };
    let server =
        |PageServerView { url, up, trouble, connections, busy }| AppPageServer { url, up, trouble, connections, busy };
    let requests = requests.into_iter().map(counted).collect();
    AppPages {
        format: format.to_owned(),
        requests,
        bytes,
        max_bytes,
        servers: servers.into_iter().map(server).collect(),
    }
}

/// The paths of applications whose requests of the last minutes took longest until the first byte of their response. `caller`: the token
/// that asks, by which questions are limited.
pub(crate) async fn slow_paths(app: &App, caller: u64, event: &mut Event) -> Result<Vec<SlowPath>> {
    let now = app.clock.now();
    let of_apps =
        Filter::Test { column: Column::Class, is: Is::Equal, value: Value::Text(Class::Apps.as_str().into()) };
    let question = Question {
        from: Millis(now.0 - RECENT_MS),
        to: Millis(now.0 + 1),
        filter: of_apps,
        by: vec![Key(Column::Repository), Key(Column::Path)],
        measures: vec![Measure::Quantile(PART, Column::FirstByte), Measure::Max(Column::FirstByte), Measure::Count],
        per: 0,
        order: Order { measure: 0, ascending: false },
        limit: SLOW_PATHS,
        compare: None,
        wait_ms: WAIT_MS,
        seed: None,
    };
    let answer = ask(app, caller, question, event).await?;
    Ok(answer.rows.iter().filter_map(|row| slow_path(row)).collect())
}

fn slow_path(row: &[Figure]) -> Option<SlowPath> {
    let [Figure::Text(app), Figure::Text(path), p95, longest, requests, ..] = row else { return None };
    Some(SlowPath {
        app: app.to_string(),
        path: path.to_string(),
        requests: number(requests) as u64,
        p95_ms: number(p95),
        max_ms: number(longest),
    })
}

fn number(figure: &Figure) -> f64 {
    match figure {
        Figure::Whole(number) => *number as f64,
        Figure::Fraction(number) => *number,
        _ => 0.0,
    }
}
