//! The front over real loopback sockets, in raw bytes.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot continue fails")]

mod crowd;
mod exchanges;
mod fast_path;
mod files;
mod growing;
mod http2;
mod limits;
mod live;
mod open_requests;
mod proxies;
mod running_front;
mod tls;
mod uploads;
