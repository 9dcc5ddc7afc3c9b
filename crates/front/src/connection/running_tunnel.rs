//! Runs a tunnel over the socket of its client, and counts its bytes.

use crate::body::delivery::{Delivery, Progress};
use crate::connection::socket::Socket;
use crate::connection::state::ConnectionState;
use crate::connection::tunnel::OpenTunnel;
use hyper::rt::Write as _;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A tunnel that runs. Its reply is complete when it ends.
pub(crate) struct RunningTunnel {
    work: Pin<Box<dyn Future<Output = ()>>>,
    delivery: Rc<Delivery>,
    state: Rc<ConnectionState>,
}

impl RunningTunnel {
    pub(crate) fn begin(open: OpenTunnel, socket: Socket, state: Rc<ConnectionState>) -> Self {
        let OpenTunnel { tunnel, delivery } = open;
        socket.keep_alive();
        let client = Client { socket, delivery: delivery.clone(), blocked: false };
        Self { work: tunnel.run(Box::new(client)), delivery, state }
    }

    /// Works until the tunnel has ended.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.work.as_mut().poll(cx));
        self.delivery.progress.set(Progress::Ended);
        self.state.flushed();
        // The client may still be sending. A reset would take from it what it has not read yet.
        self.state.unread.set(true);
        Poll::Ready(())
    }
}

/// The client's side. It counts the bytes, in the delivery of the reply.
struct Client {
    socket: Socket,
    delivery: Rc<Delivery>,
    /// The kernel takes no more bytes for now.
    blocked: bool,
}

impl AsyncRead for Client {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Self { socket, delivery, .. } = self.get_mut();
        socket.poll_take(cx, into.remaining(), |bytes| {
            into.put_slice(bytes);
            delivery.tunnelled(bytes.len());
        })
    }
}

impl AsyncWrite for Client {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(from)])
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Self { socket, delivery, blocked } = self.get_mut();
        let wrote = socket.poll_send(cx, from);
        *blocked = wrote.is_pending();
        let wrote = ready!(wrote)?;
        delivery.bytes.set(delivery.bytes.get() + wrote as u64);
        Poll::Ready(Ok(wrote))
    }

    /// While the client takes nothing, a flush does not count as progress.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { socket, blocked, .. } = self.get_mut();
        if *blocked { socket.poll_flush_quietly(cx) } else { socket.poll_flushed(cx) }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(cx)
    }
}
