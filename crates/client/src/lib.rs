//! Every call that Daylight makes to somebody else. Nothing but this crate dials out.
//!
//! Plain HTTP/1.1 so far. Every call has a time limit and a size limit; every failure
//! says which situation it was, whose it is, and whether trying again may help.

mod call;
mod connection;
mod content;
mod error;
mod secret;
mod stream;
mod target;

pub use call::{Client, ClientOptions, Request, Response};
pub use connection::{Connection, Take};
pub use content::Content;
pub use error::{Error, Side};
pub use secret::Secret;
