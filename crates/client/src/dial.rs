//! From a name to a connection: the one place that dials.

use crate::Error;
use crate::stream::Stream;
use crate::target::Origin;
use std::io;
use tokio::net::TcpStream;

/// Connects to who is called `host` in messages.
#[expect(clippy::disallowed_methods, reason = "the one place that dials")]
pub(crate) async fn dial(origin: &Origin, host: &str) -> Result<Stream, Error> {
    let host = || host.to_owned();
    let addresses = tokio::net::lookup_host((origin.name.as_str(), origin.port)).await;
    let addresses: Vec<_> = addresses.map_err(|source| Error::Unresolved { host: host(), source })?.collect();
    let stream = TcpStream::connect(addresses.as_slice()).await.map_err(|source| match source.kind() {
        io::ErrorKind::ConnectionRefused => Error::NotListening { host: host() },
        _ => Error::Unreachable { host: host(), source },
    })?;
    // Only a delay would be lost if this failed.
    let _ = stream.set_nodelay(true);
    Ok(Stream(stream))
}
