//! Applications behind a real front, over loopback sockets, in raw bytes.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod cache;
mod client;
mod collapsing;
mod faults;
mod files;
mod http2;
mod kept_pages;
mod origin;
mod page_faults;
mod pages;
mod plain_pages;
mod poisoning;
mod purging;
mod responses;
mod running_apps;
mod sessions;
mod slow;
mod smuggling;
mod stores;
mod streams;
mod timed_pages;
mod uploads;
