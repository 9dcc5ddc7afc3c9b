//! The listening socket. Nothing else binds one.

use crate::error::Error;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Connections that the kernel accepts on its own while every core is busy.
const BACKLOG: i32 = 4096;
/// A bound socket. Clients that connect wait in its backlog until [`run`](crate::run) accepts them.
#[derive(Debug)]
pub struct Listener(pub(super) std::net::TcpListener);

impl Listener {
    /// Binds `address`; port 0 chooses a free port.
    pub fn bind(address: SocketAddr) -> Result<Self, Error> {
        let bind = || {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
            // A restart must not wait until the connections of the previous process are gone.
            socket.set_reuse_address(true)?;
            socket.set_nonblocking(true)?;
            socket.bind(&address.into())?;
            socket.listen(BACKLOG)?;
            Ok(Self(socket.into()))
        };
        bind().map_err(|source| Error::Listen { address, source })
    }

    /// A socket that another process bound and passed on, perhaps with connections in its backlog. `None` where
    /// `passed` is not a listening socket.
    pub fn inherited(passed: BorrowedFd<'_>) -> Result<Option<Self>, Error> {
        let socket = SockRef::from(&passed);
        let listens = socket.is_listener().unwrap_or(false);
        if !listens || !socket.local_addr().is_ok_and(|address| address.as_socket().is_some()) {
            return Ok(None);
        }
        let own = || {
            socket.set_nonblocking(true)?;
            Ok(Some(Self(passed.try_clone_to_owned()?.into())))
        };
        own().map_err(Error::Inherit)
    }

    /// Another handle of the same socket. It listens until all handles are dropped.
    pub fn try_clone(&self) -> Result<Self, Error> {
        self.0.try_clone().map(Self).map_err(Error::Inherit)
    }

    /// Its address, with the port that was chosen.
    pub fn local_addr(&self) -> Result<SocketAddr, Error> {
        self.0.local_addr().map_err(Error::Core)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// To pass it on to another process.
impl From<Listener> for OwnedFd {
    fn from(listener: Listener) -> Self {
        listener.0.into()
    }
}
