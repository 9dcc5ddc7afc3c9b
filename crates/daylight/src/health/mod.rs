//! How the server is now: one value, from which the readiness probe and the first page list the faults.

pub(crate) mod metrics;
pub(crate) mod upstream_trouble;

use crate::app::App;
use crate::error::Result;
use crate::reply;
use client::{Circuit, HostState};
use front::Reply;
use store::ReadOnly;
use telemetry::{Event, Op, Reason};

/// The state of a server that can read its database: everything of it that may be at fault.
#[derive(Debug)]
pub(crate) struct Health {
    /// Why the server only reads.
    pub(crate) read_only: Option<ReadOnly>,
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
            clock_correction_ms: app.store.clock_correction(),
            upstreams: app.repositories.upstreams(event).await?,
            behind: app.repositories.behind(event).await?,
            certificate: shown.flat_map(|certificate| certificate.faults(now)).collect(),
        })
    }
}

/// Answers the readiness probe. The server is ready while it can read. Other failures are listed below the first line, without names, as
/// anybody may read them.
pub(crate) async fn ready(app: &App, event: &mut Event) -> Result<Reply> {
    if let Some(why) = app.store.unreadable(event).await? {
        event.reason = Some(Reason::Io);
        return Ok(reply::not_ready(format!("not ready: the database cannot be read: {why}\n")));
    }
    let health = Health::of(app, event).await?;
    let mut text = "ready\n".to_owned();
    if let Some(why) = &health.read_only {
        text += &format!("degraded: read-only: {why}\n");
    }
    if health.clock_correction_ms != 0 {
        let seconds = health.clock_correction_ms / 1000;
        text += &format!("degraded: the machine's clock counts as wrong: {seconds} s are added to its time\n");
    }
    let hosts = &health.upstreams;
    let open = hosts.iter().filter(|(host, _)| !matches!(host.circuit, Circuit::Closed { .. })).count();
    if open > 0 {
        let all = hosts.len();
        text += &format!("degraded: upstreams: {open} of {all} failed repeatedly, and their circuits are open\n");
    }
    if health.behind > 0 {
        text += &format!("degraded: repositories behind their upstreams: {}\n", health.behind);
    }
    for fault in &health.certificate {
        text += &format!("degraded: {fault}\n");
    }
    Ok(event.time(Op::ReplyMake, || reply::text(text)))
}
