//! `/api/v1/tail`: finished events as they come, as Server-Sent Events.

use super::pagination::flag;
use crate::app::App;
use crate::error::Error;
use crate::reply;
use crate::route::Admin;
use bytes::Bytes;
use format::percent::Form;
use front::{Live, LiveSource, Reply, Request};
use insight::{Filter, Listener};
use std::task::{Context, Poll};
use std::time::Duration;
use telemetry::Event;

/// After a silence of this length the client gets a comment. Proxies close a connection that is silent for a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// A comment, which clients ignore.
const COMMENT: &[u8] = b":\n\n";

/// Begins to listen. The cost class has its place back with the reply: listeners have a bound of their own.
pub(super) async fn answer(
    app: &App,
    admin: &Admin,
    query: &str,
    request: &Request,
    event: &mut Event,
) -> Result<Reply, Error> {
    app.access.server(request, admin.verb.scope(), false, event).await?;
    let filter = Filter::from_text(&Form(query).value("where").unwrap_or_default(), app.clock.now());
    let filter = filter.map_err(|error| Error::Input(format!("`where` cannot be read: {error}")))?;
    let listener = app.tail.listen(filter, flag(query, "all")?);
    let listener =
        listener.map_err(|_| Error::Busy { what: "listeners to live events", setting: Some("server.max_tails") })?;
    Ok(reply::live(Live::new(Messages(listener), HEARTBEAT, Bytes::from_static(COMMENT))))
}

#[derive(Debug)]
struct Messages(Listener);

impl LiveSource for Messages {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_next(cx).map(|messages| messages.map(Bytes::from))
    }
}
