//! HTTP in: from the socket to the handler and back, for every client.
//!
//! [`run`] accepts on every core from one [`Listener`]. Each connection is a `wire` (the socket, counted and
//! timed) under a machine for HTTP/1 (hyper) or HTTP/2 (h2); each request on it is an `exchange`, which owns the request's event. A
//! [`Handler`] turns a [`Request`] into a [`Reply`]; [`conditional`] alone decides about 304, ranges and
//! `HEAD`; the event is released when the last byte of the reply has been handed to the kernel.
//!
//! [`Pages`] are complete answers in memory.
//!
//! Nothing here knows a repository, a URL or a token: statuses other than the front's own limits are the
//! program's to choose.

mod body;
mod buffers;
mod clients;
pub mod conditional;
mod connection;
mod date;
mod direct;
mod error;
mod exchange;
mod file_part;
mod framing;
mod growing;
mod head;
mod heartbeat;
mod http1;
mod http2;
mod in_memory;
mod ledger;
mod leftover;
mod limits;
mod line_ends;
mod listen;
mod opening;
mod pages;
mod pieces;
mod proxies;
mod reply;
mod request;
mod reserve;
mod rest;
mod rope;
mod sent;
mod stop;
mod tls;
mod turns;
mod wire;

pub use clients::client;
pub use error::Error;
pub use exchange::Handler;
pub use growing::{Growing, Grown, Growth, Waiting};
pub use heartbeat::heartbeat;
pub use limits::Limits;
pub use listen::{Listener, Options, run};
pub use pages::{Canon, Class, Holds, Outside, PUBLIC, Pages, Prepared, takes_gzip};
pub use proxies::{ClientFrom, Network, Proxies, announced};
pub use reply::{Body, Ranges, Reply};
pub use request::{Request, Upload, UploadError};
pub use reserve::RESERVED;
pub use rope::Rope;
pub use stop::Stop;
pub use tls::Tls;
