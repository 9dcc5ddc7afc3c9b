//! The front over real loopback sockets, in raw bytes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod exchanges;
mod limits;
mod people;
mod uploads;
