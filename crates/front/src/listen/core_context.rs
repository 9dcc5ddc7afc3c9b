//! What the connections of one core share: its handler, its limits, and whether the server stops.

use crate::body::file_reader::Means;
use crate::clients::proxies::Proxies;
use crate::clients::{self, Clients};
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
pub(crate) struct Core<H> {
    pub(crate) handler: Arc<H>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) recorder: Arc<Recorder>,
    /// What all cores read files with.
    pub(crate) means: Means,
    pub(crate) builder: Builder,
    /// Connections of all cores, and what is under way beyond one request each.
    pub(crate) connections: Arc<Bound>,
    /// The same, by client.
    pub(crate) clients: Arc<Clients>,
    pub(crate) proxies: Arc<Proxies>,
    pub(crate) tls: Option<Arc<Tls>>,
    /// Set when the connections of this core are to finish: how long idle ones may stay.
    pub(crate) farewell: Cell<Option<Duration>>,
    /// Told once, when that becomes so.
    pub(crate) stopping: Notify,
    /// Connections that are open on this core.
    pub(crate) open: Cell<usize>,
    /// Told when one of them has ended.
    pub(crate) emptied: Notify,
}

/// Why a connection has not come to its first request.
pub(crate) enum Late {
    /// The client took too long.
    Slow,
    /// The server stops, and waited for as long as it does for idle connections.
    Stopping,
}

impl<H> Core<H> {
    /// The same core for connections that are answered by another handler, may be open for so long, and count in this bound.
    pub(crate) fn with<V>(&self, handler: Arc<V>, open_for: Duration, connections: Arc<Bound>) -> Core<V> {
        let stays =
            Limits { head_time: open_for, keep_alive: open_for, write_stall: open_for, ..(*self.limits).clone() };
        Core {
            handler,
            builder: builder(&stays),
            limits: Arc::new(stays),
            recorder: self.recorder.clone(),
            means: self.means.clone(),
            connections,
            clients: Clients::new(u64::MAX),
            proxies: self.proxies.clone(),
            tls: self.tls.clone(),
            farewell: Cell::new(None),
            stopping: Notify::new(),
            open: Cell::new(0),
            emptied: Notify::new(),
        }
    }

    /// One more connection of `client`. A trusted proxy has those of many clients, and is not counted.
    pub(crate) fn enter(&self, client: IpAddr) -> Result<Option<clients::Place>, Full> {
        if self.proxies.trust(client) { Ok(None) } else { self.clients.enter(client).map(Some) }
    }

    /// Waits for what comes before a connection's first request or after its last, for as long as a head may take.
    pub(crate) async fn in_time<T>(&self, opening: impl Future<Output = T>) -> Result<T, Late> {
        let mut opening = pin!(timeout(self.limits.head_time, opening));
        let mut stopping = pin!(async {
            if self.farewell.get().is_none() {
                self.stopping.notified().await;
            }
            sleep(self.farewell.get().unwrap_or_default()).await;
        });
        poll_fn(|cx| match opening.as_mut().poll(cx) {
            Poll::Ready(opened) => Poll::Ready(opened.map_err(|_| Late::Slow)),
            Poll::Pending => stopping.as_mut().poll(cx).map(|()| Err(Late::Stopping)),
        })
        .await
    }
}
