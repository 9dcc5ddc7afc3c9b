//! The servers that keep the pages of an application: memcached, Redis and Valkey.
//!
//! The two protocols are read here and not by a client library: those of crates.io reserve memory for a value as the server announces
//! it, connect by themselves, and wake a task for each reply.

mod command;
mod connection;
mod greeting;
mod line;
mod replies;
mod url;

pub use command::{PageCommand, PageProtocol};
pub use connection::PageConnection;
pub use replies::{PageReplies, PageReply, PageWant};
pub use url::PageServer;

#[cfg(test)]
mod tests;
