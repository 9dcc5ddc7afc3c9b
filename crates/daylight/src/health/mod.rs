//! How the server is now: one value, from which the readiness probe and the first page list the faults.

pub(crate) mod metrics;
mod open_findings;
pub(crate) mod reason;
pub(crate) mod upstream_trouble;

use crate::app::App;
use crate::error::Result;
use crate::reply;
use client::HostState;
use front::Reply;
use reason::ReadyReason;
use store::{DatabaseState, ReadOnly};
use telemetry::{Event, Op, Reason};

/// The state of a server that can read its database: everything of it that may be at fault.
#[derive(Debug)]
pub(crate) struct Health {
    /// Why the server only reads.
    pub(crate) read_only: Option<ReadOnly>,
    /// Published files that were requested and whose bytes are nowhere.
    pub(crate) missing_files: u64,
    /// The time that is added to that of the machine, whose clock counts as wrong, in milliseconds.
    clock_correction_ms: i64,
    /// The hosts of upstreams, each with the names of the repositories that call it.
    pub(crate) upstreams: Vec<(HostState, Vec<String>)>,
    /// The number of repositories that are behind their upstreams.
    pub(crate) behind: usize,
    /// The faults of the certificates.
    certificate: Vec<String>,
}

impl Health {
    /// The state now, from memory and, where that is out of date, from the truth database.
    pub(crate) async fn of(app: &App, event: &mut Event) -> Result<Self> {
        let (shown, now) = (app.certificates.get().into_iter().flatten(), app.clock.now());
        Ok(Self {
            read_only: app.store.read_only(),
            missing_files: app.store.missing_files(),
            clock_correction_ms: app.store.clock_correction(),
            upstreams: app.repositories.upstreams(event).await?,
            behind: app.repositories.behind(event).await?,
            certificate: shown.flat_map(|certificate| certificate.faults(now)).collect(),
        })
    }
}

/// Answers the readiness probe. The server is ready while it serves and can read. Other failures are listed below the first line, without
/// names, as anybody may read them. `fresh`: it is not ready either while its answers may lack changes of other nodes, for a load balancer that
/// has others.
pub(crate) async fn ready(app: &App, fresh: bool, event: &mut Event) -> Result<Reply> {
    // Before anything that may stand still itself.
    if let Some(stuck) = app.watch.stuck() {
        let (what, op) = (stuck.what, stuck.op.map_or("nothing known", Op::as_str));
        let cause = format!("{what}, for {:.0} s; open requests: {}, most wait for: {op}", stuck.seconds, stuck.open);
        return Ok(reply::not_ready(format!("not ready: {}: {cause}\n", ReadyReason::StandsStill.as_str())));
    }
    if let Some(why) = app.store.unreadable(event).await? {
        event.reason = Some(Reason::Io);
        return Ok(reply::not_ready(format!("not ready: {}: {why}\n", ReadyReason::Unreadable.as_str())));
    }
    if app.store.is_draining() {
        return Ok(reply::not_ready(format!("not ready: {}\n", ReadyReason::Draining.as_str())));
    }
    let unfollowed = app.store.database().and_then(DatabaseState::unfollowed);
    let reason = match unfollowed {
        Some(_) => Some(ReadyReason::NotFollowing),
        None => (fresh && !app.store.freshness().is_fresh()).then_some(ReadyReason::Stale),
    };
    if let Some(reason) = reason {
        event.reason = Some(Reason::TruthUnreachable);
        return Ok(reply::not_ready(format!("not ready: {}\n", reason.as_str())));
    }
    let health = Health::of(app, event).await?;
    let mut text = "ready\n".to_owned();
    let mut degraded = |reason: ReadyReason, how: &str| text += &format!("degraded: {}: {how}\n", reason.as_str());
    if let Some(why) = &health.read_only {
        degraded(ReadyReason::ReadOnly, &why.to_string());
    }
    if app.store.is_nameless() {
        degraded(ReadyReason::Nameless, "no answer is called fresh");
    }
    if health.missing_files > 0 {
        degraded(ReadyReason::Missing, &health.missing_files.to_string());
    }
    if health.clock_correction_ms != 0 {
        let seconds = health.clock_correction_ms / 1000;
        degraded(ReadyReason::Clock, &format!("{seconds} s are added to its time"));
    }
    let hosts = &health.upstreams;
    let now = app.clock.now();
    let open = hosts.iter().filter(|(host, _)| host.circuit.refuses(now)).count();
    if open > 0 {
        let all = hosts.len();
        let how = format!("{open} of {all} failed repeatedly, and their circuits are open");
        degraded(ReadyReason::Upstreams, &how);
    }
    if health.behind > 0 {
        degraded(ReadyReason::Behind, &health.behind.to_string());
    }
    for fault in &health.certificate {
        text += &format!("degraded: {fault}\n");
    }
    Ok(event.time(Op::ReplyMake, || reply::text(text)))
}
