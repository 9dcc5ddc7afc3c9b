//! What stays the same for all requests of a connection.

use crate::body::file_reader::FileAccess;
use crate::clients::proxies::Proxies;
use crate::connection::state::ConnectionState;
use crate::limits::Limits;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use telemetry::Text;

/// What stays the same for all requests of a connection.
pub(crate) struct ConnectionContext<H> {
    pub(crate) handler: Arc<H>,
    pub(crate) limits: Arc<Limits>,
    /// What files are read with.
    pub(crate) file_access: FileAccess,
    /// Whether the kernel may send files: on a plain socket.
    pub(crate) sendfile: bool,
    pub(crate) proxies: Arc<Proxies>,
    /// Who is at the other end, or whom a proxy announced.
    pub(crate) client: IpAddr,
    /// The client as events name it.
    pub(crate) client_text: Text,
    /// What the last request said of its user agent, and how events tell it: all of a connection say the same.
    pub(crate) agent: RefCell<(Vec<u8>, Text)>,
    pub(crate) state: Rc<ConnectionState>,
}
