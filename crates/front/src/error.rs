//! What can keep the front from starting.

use std::io;
use std::net::SocketAddr;
use tokio_rustls::rustls;

/// The front cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is taken, not ours, or not allowed.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// A socket cannot be taken over from another process, or kept for the next.
    #[error("cannot take over a listening socket")]
    Inherit(#[source] io::Error),
    /// A certificate or its key is not what a PEM file should hold.
    #[error("cannot read the TLS {what}: {cause}")]
    Pem {
        /// Which of them.
        what: &'static str,
        /// Why.
        cause: String,
    },
    /// The certificate and the key cannot be used, or not together.
    #[error("cannot use the TLS certificate")]
    Certificate(#[source] rustls::Error),
    /// A thread, its runtime or its share of the socket cannot be had.
    #[error("cannot start the thread of a core")]
    Core(#[source] io::Error),
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Listen { source, .. } => match source.kind() {
                io::ErrorKind::AddrInUse => Some("another program listens there: stop it or choose another port"),
                io::ErrorKind::AddrNotAvailable => Some("this machine has no such address"),
                io::ErrorKind::PermissionDenied => Some("ports below 1024 need a privilege: choose a higher one"),
                _ => None,
            },
            Error::Pem { .. } | Error::Certificate(_) => Some(
                "both are PEM: the certificate with those that sign it, its own first, and the key without a password",
            ),
            Error::Inherit(_) | Error::Core(_) => Some("look at the limits of threads and open files (`ulimit -a`)"),
        }
    }
}
