//! A further address of a server, whose requests another handler answers.

use crate::serve::certificate::Certificate;
use front::{Handler, Listener};
use std::sync::Arc;

/// An address with its own handler.
pub(crate) struct Door {
    /// Its socket.
    pub(crate) listener: Listener,
    /// The certificate that it shows. `None`: no TLS.
    pub(crate) certificate: Option<Arc<Certificate>>,
    /// Answers its requests.
    pub(crate) handler: Arc<dyn Handler>,
}
