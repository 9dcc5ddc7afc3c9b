//! How hyper's machine for HTTP/1 is set up.

use crate::limits::Limits;
use hyper::server::conn::http1::Builder;

/// hyper takes no smaller one.
const SMALLEST_BUFFER: usize = 8192;

/// The header lines that hyper takes when it is told nothing.
const HYPERS_HEADERS: usize = 100;

pub(crate) fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new();
    if limits.headers != HYPERS_HEADERS {
        // Told a number, hyper clears tables of that size for each head, which costs more than a page's lookup.
        builder.max_headers(limits.headers);
    }
    builder
        .max_header_size(limits.head)
        // Also what hyper queues of a body before it insists on a flush: one piece, where its default takes several.
        .max_buf_size(limits.head.max(SMALLEST_BUFFER))
        // hyper's own timer would start anew for each head and count idle time with it; ours tells them apart.
        .header_read_timeout(None);
    builder
}
