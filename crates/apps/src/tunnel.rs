//! A connection that speaks another protocol after a 101, as for a WebSocket.

use crate::backends::ConnectionPlace;
use crate::streams::OpenStream;
use client::BackendConnection;
use front::{ClientSide, Tunnel};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use tokio::io::{AsyncWriteExt, copy_bidirectional_with_sizes};

/// The bytes that wait in memory in each direction.
const BUFFER: usize = 16 << 10;

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
    fn run(self: Box<Self>, mut client: Box<dyn ClientSide>) -> Pin<Box<dyn Future<Output = ()>>> {
        let Self { connection, _place, mut open } = *self;
        Box::pin(async move {
            let _place = _place;
            let mut backend = connection.into_stream();
            {
                // The end of one direction is passed on, and the other one goes on until its own.
                let mut copied = pin!(copy_bidirectional_with_sizes(&mut client, &mut backend, BUFFER, BUFFER));
                poll_fn(|cx| match copied.as_mut().poll(cx) {
                    Poll::Ready(_) => Poll::Ready(()),
                    Poll::Pending => open.poll_ended(cx),
                })
                .await;
            }
            // Both may be closed already.
            let _ = backend.shutdown().await;
            let _ = client.shutdown().await;
        })
    }
}
