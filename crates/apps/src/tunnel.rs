//! A connection that speaks another protocol after a 101, as for a WebSocket.

use crate::backends::ConnectionPlace;
use crate::streams::OpenStream;
use client::BackendConnection;
use front::{ClientSide, Tunnel};
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::time::{Instant, sleep};

/// The bytes that wait in memory in each direction.
const BUFFER: usize = 16 << 10;

/// How long a tunnel with only one direction left may be silent. A client that has gone looks like one that only listens.
const HALF_OPEN: Duration = Duration::from_secs(60);

/// Both connections after a 101.
#[derive(Debug)]
pub(crate) struct AppTunnel {
    connection: BackendConnection,
    _place: ConnectionPlace,
    open: OpenStream,
}

impl AppTunnel {
    pub(crate) fn new(connection: BackendConnection, place: ConnectionPlace, open: OpenStream) -> Self {
        Self { connection, _place: place, open }
    }
}

impl Tunnel for AppTunnel {
    fn run(self: Box<Self>, client: Box<dyn ClientSide>) -> Pin<Box<dyn Future<Output = ()>>> {
        let Self { connection, _place, mut open } = *self;
        Box::pin(async move {
            let _place = _place;
            let mut carried = pin!(carry_both(client, connection.into_stream()));
            poll_fn(|cx| match carried.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => open.poll_ended(cx),
            })
            .await;
        })
    }
}

/// What both directions of a tunnel tell.
#[derive(Default)]
struct Traffic {
    bytes: Cell<u64>,
    /// A direction has no more bytes to come.
    is_half_open: Cell<bool>,
}

/// Carries bytes both ways until both directions have ended. The end of one is passed on; the other one goes on while bytes pass.
async fn carry_both(client: impl AsyncRead + AsyncWrite, backend: impl AsyncRead + AsyncWrite) {
    let ((from_client, to_client), (from_backend, to_backend)) = (split(client), split(backend));
    let traffic = Traffic::default();
    let mut up = pin!(carry(from_client, to_backend, &traffic));
    let mut down = pin!(carry(from_backend, to_client, &traffic));
    let (mut up_ended, mut down_ended) = (None, None);
    let (mut silence, mut seen) = (pin!(sleep(HALF_OPEN)), None);
    poll_fn(|cx| {
        if up_ended.is_none() {
            up_ended = ended(up.as_mut().poll(cx));
        }
        if down_ended.is_none() {
            down_ended = ended(down.as_mut().poll(cx));
        }
        match (up_ended, down_ended) {
            (Some(true), Some(true)) | (Some(false), _) | (_, Some(false)) => return Poll::Ready(()),
            _ if !traffic.is_half_open.get() => return Poll::Pending,
            _ => {}
        }
        let now = Some(traffic.bytes.get());
        if std::mem::replace(&mut seen, now) != now {
            silence.as_mut().reset(Instant::now() + HALF_OPEN);
        }
        silence.as_mut().poll(cx)
    })
    .await;
}

fn ended(polled: Poll<bool>) -> Option<bool> {
    match polled {
        Poll::Ready(well) => Some(well),
        Poll::Pending => None,
    }
}

/// Carries the bytes of one direction, and then its end. `false`: a connection broke.
async fn carry(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, traffic: &Traffic) -> bool {
    let mut buffer = vec![0; BUFFER];
    loop {
        let len = match from.read(&mut buffer).await {
            Ok(0) => break,
            Ok(len) => len,
            Err(_) => return false,
        };
        if to.write_all(&buffer[..len]).await.is_err() || to.flush().await.is_err() {
            return false;
        }
        traffic.bytes.set(traffic.bytes.get() + len as u64);
    }
    traffic.is_half_open.set(true);
    to.shutdown().await.is_ok()
}
