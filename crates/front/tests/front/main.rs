//! The front over real loopback sockets, in raw bytes.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

#[path = "../../../../tests/world/bad_sinks.rs"]
mod bad_sinks;
mod crowd;
mod direct;
mod exchanges;
mod files;
mod growing;
mod http2;
mod limits;
mod people;
mod proxies;
mod sinks;
mod tls;
mod uploads;
