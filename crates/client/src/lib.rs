//! Every outgoing call of Daylight. Only this crate connects to other servers.
//!
//! [`Client`] and [`Connection`] serve the command line: complete responses from one server. [`Upstream`] serves
//! remote repositories: responses as they arrive. [`Hosts`] holds what all upstreams share about a host. HTTP/1.1,
//! plain or over TLS. Every call has timeouts. Every error has its cause, which side it comes from, and whether a
//! retry may help.

mod arriving;
mod backend;
mod call;
mod call_times;
mod certified_name;
mod circuit;
mod connection;
mod content;
mod credentials;
mod database;
mod datagrams;
mod dial;
mod error;
mod failed;
mod host;
mod host_options;
mod hosts;
mod http_connection;
mod object_storage;
mod page_server;
mod path;
mod pinned;
mod places;
mod pool;
mod post;
mod probe;
mod proxy;
mod redirect;
mod refusals;
mod request;
mod resolve;
mod retry_after;
mod secret;
mod set_up;
mod ssrf;
mod stream;
mod target;
mod timeouts;
mod tls;
mod tls_error;
mod upstream;
mod validity;
mod zone;

pub use arriving::Arriving;
pub use backend::{Backend, BackendBody, BackendConnection, BackendStream, BodySource, OnInterim, SendError};
pub use call::Client;
pub use call_times::CallTimes;
pub use certified_name::is_for;
pub use circuit::{Circuit, CircuitOptions};
pub use connection::{BodySink, Connection};
pub use content::Content;
pub use database::DatabaseUrl;
pub use datagrams::Datagrams;
pub use error::{Error, Side};
pub use host::{HostState, Trouble};
pub use host_options::{Apart, HostsOptions};
pub use hosts::Hosts;
pub use object_storage::ObjectConnector;
pub use page_server::{PageCommand, PageConnection, PageProtocol, PageReplies, PageReply, PageServer, PageWant};
pub use path::escaped;
pub use post::Post;
pub use probe::{Probe, ProbeAnswer};
pub use proxy::ProxyOptions;
pub use request::{ClientOptions, Request, Response, Trust};
pub use retry_after::{moment, read as retry_after};
pub use secret::Secret;
pub use ssrf::Networks;
pub use target::host_of;
pub use timeouts::Timeouts;
pub use tls::Pem;
pub use tls_error::TlsTrouble;
pub use upstream::{Conditions, Upstream, UpstreamOptions};
pub use validity::Validity;
pub use zone::Zone;
