//! What a connection without TLS begins with. Through TLS both sides agree on a protocol; here a client that speaks HTTP/2 just
//! begins with its preface (RFC 9113, 3.3), which is no request of HTTP/1.

use crate::connection::state::ConnectionState;
use crate::connection::transport::Transport;
use crate::listen::tls::HTTP2;
use std::io;

/// The first bytes of a client that speaks HTTP/2.
pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// What a connection's first bytes tell.
pub(crate) struct DetectedProtocol {
    /// The client speaks HTTP/2.
    pub(crate) http2: bool,
    /// What was read to learn that.
    pub(crate) read_ahead: Vec<u8>,
}

impl DetectedProtocol {
    /// Reads as much as it takes.
    pub(crate) async fn read(transport: &Transport, state: &ConnectionState) -> io::Result<Self> {
        let mut read_ahead = Vec::new();
        loop {
            let read = transport.read_more(&mut read_ahead).await?;
            if read > 0 {
                state.arrived();
            }
            let told = read_ahead.len().min(PREFACE.len());
            let http2 = read_ahead[..told] == PREFACE[..told];
            if !http2 || told == PREFACE.len() || read == 0 {
                return Ok(Self { http2: http2 && told == PREFACE.len(), read_ahead });
            }
        }
    }

    /// What was agreed on in TLS.
    pub(crate) fn agreed(protocol: Option<&[u8]>) -> Self {
        Self { http2: protocol == Some(HTTP2), read_ahead: Vec::new() }
    }
}
