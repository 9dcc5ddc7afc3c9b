//! Detects the protocol of a connection. With TLS, ALPN selects it. Without TLS a client that speaks HTTP/2 begins with
//! its preface (RFC 9113, 3.3), which is not a request of HTTP/1.

use crate::connection::state::ConnectionState;
use crate::connection::transport::Transport;
use crate::listen::tls::HTTP2;
use std::io;

/// The first bytes of a client that speaks HTTP/2.
pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The result of reading the first bytes of a connection.
pub(crate) struct DetectedProtocol {
    /// The client speaks HTTP/2.
    pub(crate) http2: bool,
    /// The bytes that were read for the detection.
    pub(crate) read_ahead: Vec<u8>,
}

impl DetectedProtocol {
    /// Reads as many bytes as the detection needs.
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

    /// The protocol that ALPN selected.
    pub(crate) fn agreed(protocol: Option<&[u8]>) -> Self {
        Self { http2: protocol == Some(HTTP2), read_ahead: Vec::new() }
    }
}
