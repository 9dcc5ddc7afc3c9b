//! Applications behind a real front, over loopback sockets, in raw bytes.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod client;
mod faults;
mod files;
mod origin;
mod responses;
mod running_apps;
mod slow;
mod smuggling;
mod streams;
mod uploads;
