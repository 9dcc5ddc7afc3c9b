//! A connection to a backend, for one request.

use super::backend::{AppBackend, with_cause};
use super::idle::{self, Open};
use client::BackendConnection;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Event, Reason, Text};
use tokio::time::timeout;

/// How long a backend may take to accept a connection, with the TLS handshake.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// A connection to a backend, for one request. When this is dropped, the connection is closed.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(super) open: Open,
    pub(super) is_reused: bool,
    pub(super) busy: ConnectionPlace,
}

/// The place of a connection among the connections that a backend works on, until this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPlace(Arc<AppBackend>);

/// A backend accepted no connection.
#[derive(Debug)]
pub(super) struct Refusal {
    /// For operators.
    pub(super) why: String,
    pub(super) nothing_listens: bool,
}

impl ConnectionPlace {
    pub(super) fn of(backend: &Arc<AppBackend>) -> Self {
        backend.begin();
        Self(backend.clone())
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl AppBackend {
    /// A connection: an idle one of this core, unless it must be `fresh`, or a new one. The error is for operators.
    pub(super) async fn lease(self: &Arc<Self>, fresh: bool, event: &mut Event) -> Result<Lease, String> {
        while let Some(mut open) = (!fresh).then(|| idle::take(self.number())).flatten() {
            if open.connection.is_reusable() {
                return Ok(Lease { open, is_reused: true, busy: ConnectionPlace::of(self) });
            }
        }
        let connected = self.connect(event).await;
        match &connected {
            Ok(_) => self.connected(),
            Err(refusal) => self.refused(&refusal.why),
        }
        connected.map_err(|refusal| refusal.why)
    }

    /// A new connection.
    pub(super) async fn connect(self: &Arc<Self>, event: &mut Event) -> Result<Lease, Refusal> {
        let (busy, place) = (ConnectionPlace::of(self), self.place());
        match timeout(CONNECT_MAX, self.backend().connect(event)).await {
            Ok(Ok(connection)) => Ok(Lease { open: Open { connection, place }, is_reused: false, busy }),
            Ok(Err(error)) => {
                let nothing_listens = matches!(error, client::Error::NotListening { .. });
                Err(Refusal { why: with_cause(&error), nothing_listens })
            }
            Err(_) => {
                let (name, seconds) = (self.name(), CONNECT_MAX.as_secs());
                let why = format!("`{name}` did not accept a connection within {seconds} s");
                Err(Refusal { why, nothing_listens: false })
            }
        }
    }
}

impl Lease {
    /// The connection.
    pub(crate) fn connection(&mut self) -> &mut BackendConnection {
        &mut self.open.connection
    }

    /// Whether the connection was used before.
    pub(crate) fn is_reused(&self) -> bool {
        self.is_reused
    }

    /// The URL of the backend.
    pub(crate) fn backend(&self) -> &str {
        self.busy.0.name()
    }

    /// The same, shared.
    pub(crate) fn name(&self) -> &Text {
        self.busy.0.text()
    }

    /// The backend gave no whole response.
    pub(crate) fn failed(&self, why: Reason) {
        self.busy.0.failed(why.doc().to_owned());
    }

    /// The response is a stream without an end: its connection counts in the streams of the application.
    pub(crate) fn is_endless(&mut self) {
        self.open.place = None;
    }

    /// Keeps the connection for another request, if it can be used again. To be called after the last byte of the response.
    pub(crate) fn give_back(self) {
        let Self { mut open, busy, .. } = self;
        if open.place.is_some() && busy.0.has_room() && open.connection.is_reusable() {
            idle::keep(busy.0.number(), open);
        }
    }

    /// The connection, for another protocol. The backend counts as busy until the second value is dropped.
    pub(crate) fn into_connection(self) -> (BackendConnection, ConnectionPlace) {
        (self.open.connection, self.busy)
    }
}
