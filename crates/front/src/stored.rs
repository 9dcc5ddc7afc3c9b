//! Replies that a handler has in memory, sent without hyper and without a table of headers.

use bytes::Bytes;
use http::{Method, StatusCode};
pub use httparse::Header as HeaderLine;
use std::fmt;
use std::fs::File;
use std::pin::Pin;
use std::sync::Arc;
use telemetry::{Layer, Subject};

/// The head of a plain request, borrowed from the buffer of its connection.
pub struct PlainHead<'a> {
    /// `GET` or `HEAD`.
    pub method: &'a Method,
    /// Path and query, as sent.
    pub target: &'a str,
    /// Whether the connection is encrypted here.
    pub tls: bool,
    /// The header lines in their order, with names as sent. One of them is `Host`.
    pub lines: &'a [HeaderLine<'a>],
}

impl<'a> PlainHead<'a> {
    /// All values of a header, in their order.
    pub fn values<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        let lines = self.lines.iter().filter(move |line| line.name.eq_ignore_ascii_case(name));
        lines.map(|line| line.value)
    }
}

impl fmt::Debug for PlainHead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainHead").field("method", self.method).field("target", &self.target).finish_non_exhaustive()
    }
}

/// A stored reply that is being confirmed.
pub struct Confirming {
    /// The subject for the event, whatever becomes of the reply.
    pub subject: Subject,
    /// Its confirmation.
    pub reply: Confirmation,
}

/// The confirmation of a stored reply. `None`: it does not hold, and the handler answers.
pub type Confirmation = Pin<Box<dyn Future<Output = Option<StoredReply>>>>;

impl fmt::Debug for Confirming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Confirming").field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// A stored reply.
#[derive(Debug, Clone)]
pub struct StoredReply {
    /// Its status.
    pub status: StatusCode,
    /// The status line and the headers as HTTP/1.1 sends them, each line with its end: with `Content-Length` and `Cache-Status`, and with
    /// `Date` if there is an age; without `Age`, `Daylight-Event` and the empty line.
    pub head: Bytes,
    /// The seconds for `Age`. `None`: the reply is made now, and has neither `Age` nor another `Date` than that of this moment.
    pub age: Option<u64>,
    /// The body, which a `HEAD` leaves out.
    pub body: Bytes,
    /// The same body as a file that the kernel can send.
    pub file: Option<Arc<File>>,
    /// The layer for the event.
    pub layer: Layer,
    /// The subject for the event.
    pub subject: Subject,
}
