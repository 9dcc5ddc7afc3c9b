//! Limits on everything that comes in, and on how long anybody may keep us waiting.

use std::time::Duration;

/// What a client may send, and how slowly. Sizes are bytes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Request line and headers together. Over it: 431.
    pub head: usize,
    /// Header lines. Over it: 431.
    pub headers: usize,
    /// Path and query as sent. Over it: 414. Below `head`, or it is never reached.
    pub uri: usize,
    /// Body of a request, unless the handler sets its own with [`crate::request::Upload::limit`]. Over it: `TooLarge`.
    pub upload: u64,
    /// From the first byte of a head (on a new connection: from its start) to the head's end. Then the connection closes.
    pub head_time: Duration,
    /// From the end of a reply to the first byte of the next request. Then the connection closes.
    pub keep_alive: Duration,
    /// Without a byte of an upload that the handler waits for: `TooSlow`.
    pub upload_idle: Duration,
    /// Bytes per second that an upload must bring on average, over the time that the handler waited for it: below, it is
    /// `TooSlow`. A byte now and then would hold a place for ever.
    pub upload_rate: u64,
    /// How long the handler waits for an upload before `upload_rate` holds: lines start slowly.
    pub upload_grace: Duration,
    /// Without the client taking a byte of a reply that waits for it. Then the connection closes.
    pub write_stall: Duration,
    /// Connections open at once. Over it: let in for one request, answered if it is vital, and else told to come again.
    pub connections: u64,
    /// Connections open at once from one address (IPv6: one network of 64 bits). Over it: as above.
    pub client_connections: u64,
    /// Requests under way at once on a connection of HTTP/2. What goes on beyond its turn counts as a connection too, but
    /// for one each: over it, the stream is refused, and the client may ask again.
    pub streams: u32,
    /// Bytes of one upload on HTTP/2 that may come before the handler asks for them.
    pub stream_window: u32,
    /// The same for all uploads of a connection together.
    pub connection_window: u32,
    /// BufferPool of 64 KiB for parts of files that the kernel cannot send itself. When all are taken, replies
    /// go on in pieces of 4 KiB.
    pub file_buffers: u64,
    /// What is read and thrown away of an upload that the handler did not want, so that the connection lives on.
    pub drain: u64,
    /// How long a connection that we end stays half open after the last that came on it, and for `head_time` at most, so that a
    /// client still sending can read our reply (closing with unread bytes would reset it; RFC 9112, 9.6).
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
