//! Resolves names: with the resolver of the machine, or in tests from a table.

use crate::target::Origin;
use std::io;
use std::net::SocketAddr;

/// Resolves names.
#[derive(Debug, Clone, Default)]
pub(crate) enum Resolver {
    /// The resolver of the machine.
    #[default]
    Machine,
    /// A table that a test fills.
    #[cfg(test)]
    Table(std::sync::Arc<std::sync::Mutex<std::collections::HashMap<String, Vec<std::net::IpAddr>>>>),
}

impl Resolver {
    /// The addresses of a host, in the order in which they are tried.
    pub(crate) async fn addresses(&self, origin: &Origin) -> io::Result<Vec<SocketAddr>> {
        match self {
            Resolver::Machine => Ok(tokio::net::lookup_host((origin.name.as_str(), origin.port)).await?.collect()),
            #[cfg(test)]
            Resolver::Table(table) => {
                let table = table.lock().unwrap();
                let found = table.get(&origin.name).ok_or(io::ErrorKind::NotFound)?;
                Ok(found.iter().map(|address| SocketAddr::new(*address, origin.port)).collect())
            }
        }
    }
}
