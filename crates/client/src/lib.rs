//! Every call that Daylight makes to somebody else. Nothing but this crate dials out.
//!
//! [`Client`] and [`Connection`] serve the command line: whole answers from one server. [`Upstream`] serves remote
//! repositories: answers as they arrive, with what all of them share about a host in [`Hosts`]. HTTP/1.1, plain or over TLS.
//! Every call has time limits; every failure says which situation it was, whose it is, and whether trying again may help.

mod arriving;
mod call;
mod circuit;
mod connection;
mod content;
mod credentials;
mod dial;
mod error;
mod host;
mod host_options;
mod hosts;
mod http_connection;
mod path;
mod pool;
mod proxy;
mod redirect;
mod request;
mod resolve;
mod retry_after;
mod secret;
mod ssrf;
mod stream;
mod target;
mod timeouts;
mod tls;
mod tls_error;
mod upstream;
mod zone;

pub use arriving::Arriving;
pub use call::Client;
pub use circuit::{Circuit, CircuitOptions};
pub use connection::{BodySink, Connection};
pub use content::Content;
pub use error::{Error, Side};
pub use host::{HostState, Trouble};
pub use host_options::HostsOptions;
pub use hosts::Hosts;
pub use path::escaped;
pub use proxy::ProxyOptions;
pub use request::{ClientOptions, Request, Response};
pub use retry_after::moment;
pub use secret::Secret;
pub use ssrf::Networks;
pub use timeouts::Timeouts;
pub use tls::Pem;
pub use upstream::{Conditions, Upstream, UpstreamOptions};
pub use zone::Zone;
