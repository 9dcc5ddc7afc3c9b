//! What a connection without TLS begins with. Through TLS both sides agree on a protocol; here a client that speaks HTTP/2 just
//! begins with its preface (RFC 9113, 3.3), which is no request of HTTP/1.

use crate::connection::state::Ledger;
use crate::connection::transport::Stream;
use crate::listen::tls::HTTP2;
use std::io;

/// The first bytes of a client that speaks HTTP/2.
pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// What a connection's first bytes tell.
pub(crate) struct Opening {
    /// The client speaks HTTP/2.
    pub(crate) http2: bool,
    /// What was read to learn that.
    pub(crate) ahead: Vec<u8>,
}

impl Opening {
    /// Reads as much as it takes.
    pub(crate) async fn read(stream: &Stream, ledger: &Ledger) -> io::Result<Self> {
        let mut ahead = Vec::new();
        loop {
            let read = stream.read_more(&mut ahead).await?;
            if read > 0 {
                ledger.arrived();
            }
            let told = ahead.len().min(PREFACE.len());
            let http2 = ahead[..told] == PREFACE[..told];
            if !http2 || told == PREFACE.len() || read == 0 {
                return Ok(Self { http2: http2 && told == PREFACE.len(), ahead });
            }
        }
    }

    /// What was agreed on in TLS.
    pub(crate) fn agreed(protocol: Option<&[u8]>) -> Self {
        Self { http2: protocol == Some(HTTP2), ahead: Vec::new() }
    }
}
