//! A connection that changes its protocol (101), as for a WebSocket: after the head of the reply its bytes belong to a tunnel.

use crate::body::delivery::Delivery;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use tokio::io::{AsyncRead, AsyncWrite};

/// The client's side of a tunnel: what was read ahead comes first.
pub trait ClientSide: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> ClientSide for T {}

/// Carries the bytes of a connection after a 101, the reply to a request with `Upgrade` and without a body. The front counts the bytes
/// in the event of that request, whose duration ends with the first byte.
pub trait Tunnel: fmt::Debug {
    /// Runs until either side ends it, and shuts down the client's side. Dropped when the client takes none of the bytes that wait for
    /// it ([`Limits::write_stall`](crate::Limits::write_stall)), and when the server stops, after the time that open requests have.
    fn run(self: Box<Self>, client: Box<dyn ClientSide>) -> Pin<Box<dyn Future<Output = ()>>>;
}

/// A tunnel, and the delivery of the reply that opened it.
pub(crate) struct OpenTunnel {
    pub(crate) tunnel: Box<dyn Tunnel>,
    pub(crate) delivery: Rc<Delivery>,
}
