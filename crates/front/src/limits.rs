//! Limits on all input, and on how long a client may keep the server waiting.

use std::time::Duration;

/// Limits on what a client sends, and how slowly. Sizes are in bytes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Request line and headers together. Above it: 431.
    pub head: usize,
    /// Number of header lines. Above it: 431.
    pub headers: usize,
    /// Path and query as sent. Above it: 414. It must be below `head` to have an effect.
    pub uri: usize,
    /// Body of a request, unless the handler sets another limit with [`crate::Upload::limit`]. Above it: `TooLarge`.
    pub upload: u64,
    /// From the first byte of a head (on a new connection: from its start) to the end of the head. The connection is
    /// then closed.
    pub head_time: Duration,
    /// From the end of a reply to the first byte of the next request. The connection is then closed.
    pub keep_alive: Duration,
    /// Longest time without a byte while the handler waits for an upload. Then: `TooSlow`.
    pub upload_idle: Duration,
    /// Bytes per second that an upload must bring on average, over the time the handler waited for it. Below it:
    /// `TooSlow`. Without this limit a client could occupy a slot indefinitely by sending a byte now and then.
    pub upload_rate: u64,
    /// How long the handler waits for an upload before `upload_rate` applies. Slow lines need time to start.
    pub upload_grace: Duration,
    /// Longest time without the client taking a byte of a reply that is ready. The connection is then closed.
    pub write_stall: Duration,
    /// Connections open at once. A connection above this limit may send one request: health checks and metrics are
    /// answered, and other requests get 503 with Retry-After.
    pub connections: u64,
    /// Connections open at once from one address (in IPv6: from one network of 64 bits). Above it: as for
    /// `connections`.
    pub client_connections: u64,
    /// Requests in progress at once on one HTTP/2 connection. Except for the first, each that outlasts its turn counts
    /// as a connection too. A stream above the limit is refused, and the client may retry it.
    pub streams: u32,
    /// Bytes of one upload on HTTP/2 that may arrive before the handler requests them.
    pub stream_window: u32,
    /// Such bytes of all uploads of one connection together.
    pub connection_window: u32,
    /// Buffers of 64 KiB for parts of files that the kernel cannot send itself. When all are in use, replies continue
    /// in chunks of 4 KiB.
    pub file_buffers: u64,
    /// Bytes of an unwanted upload that are read and discarded so that the connection can be used again.
    pub drain: u64,
    /// When the server ends a connection, it stays half open for this long after the client's last byte, and at most
    /// for `head_time`. A client that is still sending can then read the reply; closing a socket with unread bytes
    /// would reset the connection (RFC 9112, 9.6). When the server stops, a client has as long to read the end of a live
    /// body ([`crate::Live`]).
    pub linger: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: 32 << 10,
            headers: 100,
            uri: 8 << 10,
            upload: 500 << 20,
            head_time: Duration::from_secs(15),
            keep_alive: Duration::from_secs(75),
            upload_idle: Duration::from_secs(30),
            upload_rate: 1 << 10,
            upload_grace: Duration::from_secs(30),
            write_stall: Duration::from_secs(60),
            connections: 10_000,
            client_connections: 5_000,
            streams: 100,
            stream_window: 256 << 10,
            connection_window: 512 << 10,
            file_buffers: 256,
            drain: 256 << 10,
            linger: Duration::from_secs(2),
        }
    }
}
