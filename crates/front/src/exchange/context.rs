//! The state that all requests of a connection share.

use crate::body::file_reader::FileAccess;
use crate::clients::proxies::Proxies;
use crate::connection::state::ConnectionState;
use crate::handler::Handler;
use crate::limits::Limits;
use crate::request::SocketEnds;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use telemetry::Text;

/// The state that all requests of a connection share.
pub(crate) struct ConnectionContext {
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) limits: Arc<Limits>,
    /// Reads files.
    pub(crate) file_access: FileAccess,
    /// Whether the kernel may send files: only on a plain socket.
    pub(crate) sendfile: bool,
    pub(crate) proxies: Arc<Proxies>,
    /// The peer, or the client that a proxy announced.
    pub(crate) client: IpAddr,
    /// Both ends of the socket, if the peer is on the loopback interface.
    pub(crate) ends: Option<SocketEnds>,
    /// Whether the connection is encrypted here.
    pub(crate) tls: bool,
    /// The client as events name it.
    pub(crate) client_text: Text,
    /// The last `User-Agent`, and its text in events. All requests of a connection usually send the same.
    pub(crate) agent: RefCell<(Vec<u8>, Text)>,
    pub(crate) state: Rc<ConnectionState>,
}
