//! The backends of an application in front of which the server stands: connections that stay on one core, with everything that HTTP/1.1
//! has: interim responses, trailers, other protocols after a 101.

mod address;
mod body;
mod connection;
mod own_wakes;
mod response_head;
#[cfg(test)]
mod tests;
mod upgraded;
mod watched;

pub use address::Backend;
pub use body::{BackendBody, BodySource};
pub use connection::{BackendConnection, OnInterim, SendError};
pub use upgraded::BackendStream;
