//! Why the front cannot start.

use std::io;
use std::net::SocketAddr;
use tokio_rustls::rustls;

/// The front cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is in use, does not belong to this machine, or is not permitted.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the kernel.
        source: io::Error,
    },
    /// A socket cannot be taken over from another process, or kept for the next.
    #[error("cannot take over a listening socket")]
    Inherit(#[source] io::Error),
    /// The text of a certificate or of its key is not valid PEM.
    #[error("cannot read the TLS {what}: {cause}")]
    Pem {
        /// Which of the two.
        what: &'static str,
        /// Why.
        cause: String,
    },
    /// The certificate or the key cannot be used, or they do not belong together.
    #[error("cannot use the TLS certificate")]
    Certificate(#[source] rustls::Error),
    /// A thread, its runtime or its clone of the socket cannot be created.
    #[error("cannot start the thread of a core")]
    Core(#[source] io::Error),
}

impl Error {
    /// What an operator can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Listen { source, .. } => match source.kind() {
                io::ErrorKind::AddrInUse => Some("another program listens there: stop it or choose another port"),
                io::ErrorKind::AddrNotAvailable => Some("this machine has no such address"),
                io::ErrorKind::PermissionDenied => Some("ports below 1024 need a privilege: choose a higher one"),
                _ => None,
            },
            Error::Pem { .. } | Error::Certificate(_) => {
                Some("both are PEM: the certificate with its chain, its own first, and the key without a password")
            }
            Error::Inherit(_) | Error::Core(_) => Some("look at the limits of threads and open files (`ulimit -a`)"),
        }
    }
}
