//! The applications in front of which the server stands, and the paths that took longest.

use crate::app::App;
use crate::error::Result;
use crate::lookup::ask_events::ask;
use apps::{AppView, BackendView, CacheView, LaneView};
use insight::{Column, Figure, Filter, Is, Key, Measure, Order, Question, Value};
use telemetry::{Class, Event, Millis};
use web::{AppBackend, AppLane, Apps, SlowPath, StoredResponses};

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

fn one(url: &str, view: AppView) -> web::App {
    let AppView { name, hosts, starting, slots, lanes, backends, streams, spool_bytes, spool_max_bytes, cache } = view;
    let lane = |LaneView { paths, slots, busy, waiting }| AppLane { paths, slots: slots as u64, busy, waiting };
    let backend =
        |BackendView { url, up, trouble, busy, connections }| AppBackend { url, up, trouble, busy, connections };
    let stored = |CacheView { bytes, max_bytes, responses, hits, lookups }| StoredResponses {
        bytes,
        max_bytes,
        responses,
        hits,
        lookups,
    };
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
        cache: cache.map(stored),
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
