//! The settings of hyper for HTTP/1.

use crate::limits::Limits;
use hyper::server::conn::http1::Builder;

/// hyper accepts no smaller buffer.
const SMALLEST_BUFFER: usize = 8192;

/// The number of header lines that hyper accepts by default.
const HYPERS_HEADERS: usize = 100;

pub(crate) fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new();
    if limits.headers != HYPERS_HEADERS {
        // With an explicit number hyper clears tables of that size for each head, which costs more than the lookup of
        // a page.
        builder.max_headers(limits.headers);
    }
    builder
        .max_header_size(limits.head)
        // This also limits how much of a body hyper queues before it flushes: one chunk, where the default allows
        // several.
        .max_buf_size(limits.head.max(SMALLEST_BUFFER))
        // hyper's own timer restarts for each head and includes idle time. The deadlines of the connection distinguish
        // the two.
        .header_read_timeout(None);
    builder
}
