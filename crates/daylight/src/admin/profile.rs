//! `/api/v1/profile`: for what the threads of the server use processors.

use crate::app::App;
use crate::error::{Error, Result};
use crate::reply;
use format::percent::Form;
use front::{Reply, Request};
use http::header;
use insight::Profiler;
use repository::Scope;
use std::collections::HashMap;
use telemetry::{Event, Op, Tick, under_way};
use tokio::sync::oneshot;

/// The seconds of a profile whose caller names none.
const SECONDS: u64 = 10;

/// Takes a profile. The answer begins when it is complete.
pub(super) async fn answer(app: &App, request: &mut Request, event: &mut Event) -> Result<Reply> {
    app.access.server(request, Scope::Observe, false, event).await?;
    let seconds = seconds(request.query().unwrap_or_default())?;
    let table = app.repositories.table(event).await?;
    let names: HashMap<u64, String> = table.by_name.values().map(|one| (one.id.0, one.record.name.clone())).collect();
    let (done, mut profile) = oneshot::channel();
    let (waits, waited) = oneshot::channel::<()>();
    let wanted = move || !waits.is_closed();
    let taken = app.profiler.take(
        seconds,
        wanted,
        move |number| names.get(&number).cloned(),
        // The client may have left.
        move |profile| drop(done.send(profile)),
    );
    taken.map_err(|_| Error::Busy { what: "profiles", setting: None })?;
    let (began, _waiting) = (Tick::now(), under_way(Op::ProfileWait));
    let profile = (&mut profile).await;
    drop(waited);
    event.add(Op::ProfileWait, Tick::now().since(began));
    let profile = profile.map_err(|_| Error::GivenUp)?;
    let perf = format!("perf record -g -p {} -- sleep {seconds}", std::process::id());
    let mut accepts = request.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let json = accepts.any(|line| line.contains("application/json"));
    Ok(event.time(Op::ReplyMake, || match json {
        true => reply::of_json(profile.json(&perf).to_string().into()),
        false => reply::svg(profile.svg(&perf)),
    }))
}

fn seconds(query: &str) -> Result<u64> {
    let Some(text) = Form(query).value("seconds") else { return Ok(SECONDS) };
    let seconds = text.parse().ok().filter(|seconds| Profiler::SECONDS.contains(seconds));
    seconds.ok_or_else(|| Error::Input("`seconds` must be a number from 1 to 60".into()))
}
