//! The listening sockets. Nothing else binds one.

use crate::error::Error;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Connections that the kernel accepts on its own while every core is busy.
const BACKLOG: i32 = 4096;

/// One bound socket or several. Clients that connect wait in a backlog until [`run`](crate::run) accepts them.
#[derive(Debug)]
pub struct Listener {
    first: TcpListener,
    others: Vec<TcpListener>,
}

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
            Ok(Self::from(TcpListener::from(socket)))
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
            Ok(Some(Self::from(TcpListener::from(passed.try_clone_to_owned()?))))
        };
        own().map_err(Error::Inherit)
    }

    /// The sockets of both.
    pub fn and(mut self, other: Self) -> Self {
        self.others.push(other.first);
        self.others.extend(other.others);
        self
    }

    /// Whether there are several sockets.
    pub fn is_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// Other handles of the same sockets. They listen until all handles are dropped.
    pub fn try_clone(&self) -> Result<Self, Error> {
        let others = self.others.iter().map(TcpListener::try_clone).collect::<io::Result<_>>();
        let (first, others) = (self.first.try_clone().map_err(Error::Inherit)?, others.map_err(Error::Inherit)?);
        Ok(Self { first, others })
    }

    /// The address of the first, with the port that was chosen.
    pub fn local_addr(&self) -> Result<SocketAddr, Error> {
        self.first.local_addr().map_err(Error::Core)
    }

    /// The addresses of all.
    pub fn local_addrs(&self) -> Result<Vec<SocketAddr>, Error> {
        self.sockets().map(TcpListener::local_addr).collect::<io::Result<_>>().map_err(Error::Core)
    }

    /// All of them.
    pub fn sockets(&self) -> impl Iterator<Item = &TcpListener> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl From<TcpListener> for Listener {
    fn from(first: TcpListener) -> Self {
        Self { first, others: Vec::new() }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.first.as_fd()
    }
}

/// To pass the first on to another process.
impl From<Listener> for OwnedFd {
    fn from(listener: Listener) -> Self {
        listener.first.into()
    }
}
