//! Certificates that answer an authority's question whether this server has a name (RFC 8737, tls-alpn-01): they are shown only to a
//! client that offers `acme-tls/1` alone and names the name.

use super::handshake::{certified, config};
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::server::ClientHello;

/// The protocol of the question (RFC 8737, 6.2).
pub(crate) const PROTOCOL: &[u8] = b"acme-tls/1";

/// The certificates of the questions that are under way, by name: at most one for each name that the server has.
#[derive(Debug, Default)]
pub(crate) struct Challenges {
    by_name: RwLock<BTreeMap<String, Arc<ServerConfig>>>,
    shown: AtomicU64,
}

impl Challenges {
    /// Shows the certificate to authorities that ask for `name`, in place of a former one.
    pub(crate) fn show(&self, name: &str, certificates: &[u8], key: &[u8]) -> Result<(), Error> {
        let mut config = config(certified(certificates, key)?, &[PROTOCOL])?;
        // An authority asks once.
        config.send_tls13_tickets = 0;
        let mut by_name = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        by_name.insert(name.to_ascii_lowercase(), Arc::new(config));
        Ok(())
    }

    /// Shows it no more.
    pub(crate) fn hide(&self, name: &str) {
        self.by_name.write().unwrap_or_else(PoisonError::into_inner).remove(&name.to_ascii_lowercase());
    }

    /// Whether no question is under way, as at nearly all times.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The handshake with this client, if it is an authority that asks for a name with a certificate here.
    pub(crate) fn of(&self, hello: &ClientHello<'_>) -> Option<Arc<ServerConfig>> {
        let mut offered = hello.alpn()?;
        let asks = offered.next() == Some(PROTOCOL) && offered.next().is_none();
        let name = hello.server_name().filter(|_| asks)?.to_ascii_lowercase();
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).get(&name).cloned()
    }

    /// Counts a handshake with an authority, which is complete.
    pub(crate) fn count(&self) {
        self.shown.fetch_add(1, Relaxed);
    }

    /// The number of these handshakes since the start.
    pub(crate) fn shown(&self) -> u64 {
        self.shown.load(Relaxed)
    }
}
