//! What the connections of one core share: its handler, its limits, and whether the server stops.

use crate::body::file_reader::FileAccess;
use crate::clients::proxies::Proxies;
use crate::clients::{self, ClientConnections};
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

/// What the connections of one core share.
pub(crate) struct CoreContext<H> {
    pub(crate) handler: Arc<H>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) recorder: Arc<Recorder>,
    /// What all cores read files with.
    pub(crate) file_access: FileAccess,
    pub(crate) builder: Builder,
    /// Connections of all cores, and what is under way beyond one request each.
    pub(crate) connections: Arc<Bound>,
    /// The same, by client.
    pub(crate) clients: Arc<ClientConnections>,
    pub(crate) proxies: Arc<Proxies>,
    pub(crate) tls: Option<Arc<Tls>>,
    /// Set when the connections of this core are to finish: how long idle ones may stay.
    pub(crate) idle_grace: Cell<Option<Duration>>,
    /// Told once, when that becomes so.
    pub(crate) stopping: Notify,
    /// Connections that are open on this core.
    pub(crate) open: Cell<usize>,
    /// Told when one of them has ended.
    pub(crate) emptied: Notify,
}

/// Why a connection has not come to its first request.
pub(crate) enum WaitError {
    /// The client took too long.
    Slow,
    /// The server stops, and waited for as long as it does for idle connections.
    Stopping,
}

impl<H> CoreContext<H> {
    /// The same core for connections that are answered by another handler, may be open for so long, and count in this bound.
    pub(crate) fn with<V>(&self, handler: Arc<V>, open_for: Duration, connections: Arc<Bound>) -> CoreContext<V> {
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

    /// One more connection of `client`. A trusted proxy has those of many clients, and is not counted.
    pub(crate) fn enter(&self, client: IpAddr) -> Result<Option<clients::ClientSlot>, Full> {
        if self.proxies.trust(client) { Ok(None) } else { self.clients.enter(client).map(Some) }
    }

    /// Waits for what comes before a connection's first request or after its last, for as long as a head may take.
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
