//! The state that the connections of one core share: the handler, the limits, and whether the server stops.

use crate::body::file_reader::FileAccess;
use crate::clients::proxies::Proxies;
use crate::clients::{self, ClientConnections};
use crate::handler::Handler;
use crate::http1::builder::builder;
use crate::limits::Limits;
use crate::listen::tls::Tls;
use hyper::server::conn::http1::Builder;
use std::cell::Cell;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use telemetry::{Bound, Full, Recorder};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// The state that the connections of one core share.
pub(crate) struct CoreContext {
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) recorder: Arc<Recorder>,
    /// Reads files, for all cores.
    pub(crate) file_access: FileAccess,
    pub(crate) builder: Builder,
    /// Counts the connections of all cores, and streams that count as connections.
    pub(crate) connections: Arc<Bound>,
    /// Counts the same connections by client.
    pub(crate) clients: Arc<ClientConnections>,
    pub(crate) proxies: Arc<Proxies>,
    pub(crate) tls: Option<Arc<Tls>>,
    /// Set when the server stops: how long idle connections may stay.
    pub(crate) idle_grace: Cell<Option<Duration>>,
    /// Notified once, when the server stops.
    pub(crate) stopping: Notify,
    /// Connections that are open on this core.
    pub(crate) open: Cell<usize>,
    /// Notified when one of them has ended.
    pub(crate) emptied: Notify,
}

/// Why a wait before the first request or after the last one ended.
pub(crate) enum WaitError {
    /// The client took too long.
    Slow,
    /// The server stops, and the grace period of idle connections is over.
    Stopping,
}

impl CoreContext {
    /// A context of the same core for connections with another handler. They may be open for `open_for` and count in
    /// the bound `connections`.
    pub(crate) fn with(&self, handler: Arc<dyn Handler>, open_for: Duration, connections: Arc<Bound>) -> CoreContext {
        let stays =
            Limits { head_time: open_for, keep_alive: open_for, write_stall: open_for, ..(*self.limits).clone() };
        CoreContext {
            handler,
            builder: builder(&stays),
            limits: Arc::new(stays),
            recorder: self.recorder.clone(),
            file_access: self.file_access.clone(),
            connections,
            clients: ClientConnections::new(u64::MAX),
            proxies: self.proxies.clone(),
            tls: self.tls.clone(),
            idle_grace: Cell::new(None),
            stopping: Notify::new(),
            open: Cell::new(0),
            emptied: Notify::new(),
        }
    }

    /// Counts one more connection of `client`. A trusted proxy carries the connections of many clients, and is not
    /// counted.
    pub(crate) fn enter(&self, client: IpAddr) -> Result<Option<clients::ClientSlot>, Full> {
        if self.proxies.trust(client) { Ok(None) } else { self.clients.enter(client).map(Some) }
    }

    /// Waits for `opening`, a step before the first request of a connection or after its last, at most for the time
    /// limit of a head.
    pub(crate) async fn in_time<T>(&self, opening: impl Future<Output = T>) -> Result<T, WaitError> {
        let mut opening = pin!(timeout(self.limits.head_time, opening));
        let mut stopping = pin!(async {
            if self.idle_grace.get().is_none() {
                self.stopping.notified().await;
            }
            sleep(self.idle_grace.get().unwrap_or_default()).await;
        });
        poll_fn(|cx| match opening.as_mut().poll(cx) {
            Poll::Ready(opened) => Poll::Ready(opened.map_err(|_| WaitError::Slow)),
            Poll::Pending => stopping.as_mut().poll(cx).map(|()| Err(WaitError::Stopping)),
        })
        .await
    }
}
