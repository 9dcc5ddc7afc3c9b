//! The front over real loopback sockets, in raw bytes.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot continue fails")]

mod as_sent;
mod crowd;
mod exchanges;
mod fast_path;
mod files;
mod growing;
mod handlers;
mod http2;
mod interims;
mod limits;
mod live;
mod open_requests;
mod proxies;
mod running_front;
mod sites;
mod stored;
mod streams;
mod taken_uploads;
mod tls;
mod tunnels;
mod uploads;
mod waiting;
