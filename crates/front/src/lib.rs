//! Incoming HTTP: from the socket to the handler and back, for every client.
//!
//! [`run`] accepts connections on every core from the [`Listener`]s of all [`Site`]s. Each connection is a `connection::socket`, which
//! counts and times its bytes, under HTTP/1 (hyper) or HTTP/2 (h2). Each request on it is an `exchange`, which owns the
//! event of the request. A [`Handler`] turns a [`Request`] into a [`Reply`]. Only [`conditional`] decides about 304,
//! ranges and `HEAD`. The event is released when the last byte of the reply has been handed to the kernel.
//!
//! [`Pages`] are complete replies in memory. The front searches them before it calls the handler.
//!
//! This crate knows no repository, no URL and no token. Apart from the limits of the front, the program chooses every
//! status.

mod body;
mod clients;
pub mod conditional;
mod connection;
mod date;
mod error;
mod event_loop;
mod exchange;
mod handler;
mod http1;
mod http2;
mod limits;
mod listen;
mod pages;
mod reply;
mod request;
mod stored;

pub use body::growing::{Growing, Grown, Growth, Waiting};
pub use body::kernel_copy::{KernelCopies, KernelCopy};
pub use body::live::{Live, LiveSource};
pub use body::rope::Rope;
pub use body::stream::{Piece, Stream, StreamSource};
pub use clients::client;
pub use clients::forwarded_url::ForwardedUrl;
pub use clients::network::Network;
pub use clients::proxies::{ClientFrom, Proxies};
pub use clients::proxy_protocol::announced;
pub use connection::tunnel::{ClientSide, Tunnel};
pub use error::Error;
pub use event_loop::heartbeat;
pub use handler::{Answering, Handler};
pub use limits::Limits;
pub use listen::free_port::free_port;
pub use listen::listener::Listener;
pub use listen::reserved_connections::RESERVED;
pub use listen::runtime_work::count_work;
pub use listen::stop::Stop;
pub use listen::tls::Tls;
pub use listen::{Options, Site, run};
pub use pages::accept_encoding::takes_gzip;
pub use pages::browser::opens_pages;
pub use pages::{CanonicalUrl, ClassOf, PUBLIC, PageHooks, PageUrl, Pages, Validity};
pub use reply::{Body, Ranges, Reply, UnchangedDates};
pub use request::interim::Interim;
pub use request::upload::{Upload, UploadError};
pub use request::{Request, SocketEnds};
pub use stored::{Confirmation, Confirming, HeaderLine, PlainHead, StoredReply};
