//! Applications behind a real front, over loopback sockets, in raw bytes.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod cache;
mod client;
mod collapsing;
mod faults;
mod files;
mod http2;
mod origin;
mod poisoning;
mod purging;
mod responses;
mod running_apps;
mod sessions;
mod slow;
mod smuggling;
mod streams;
mod uploads;
