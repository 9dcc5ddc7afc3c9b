//! Calls of object storage: HTTP as `object_store` wants it, over the connections and the circuits of this crate.
//!
//! `object_store` signs requests, repeats them, and reads the answers. This module connects, keeps connections, waits no longer than
//! it may, and obeys the pauses that a server asks for.

mod answer_body;
mod connector;
mod error_kind;

pub use connector::ObjectConnector;

#[cfg(test)]
mod tests;
