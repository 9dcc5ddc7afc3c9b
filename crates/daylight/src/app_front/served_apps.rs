//! The applications that this process serves, for operators: their state, and the removal of stored responses.

use apps::{AppView, Apps};
use std::sync::{Arc, LazyLock};

/// The applications of every listening address, each with the URL of the address.
#[derive(Debug, Default)]
pub(crate) struct ServedApps {
    addresses: Vec<(String, Arc<Apps>)>,
}

/// Those of a server that is no front.
static NONE: LazyLock<ServedApps> = LazyLock::new(ServedApps::default);

impl ServedApps {
    pub(super) fn new(addresses: Vec<(String, Arc<Apps>)>) -> Self {
        Self { addresses }
    }

    /// No applications.
    pub(crate) fn none() -> &'static Self {
        &NONE
    }

    /// The URLs of the listening addresses.
    pub(crate) fn urls(&self) -> Vec<&str> {
        self.addresses.iter().map(|(url, _)| url.as_str()).collect()
    }

    /// The names of the applications.
    pub(crate) fn names(&self) -> Vec<String> {
        self.views().map(|(_, view)| view.name).collect()
    }

    /// The state of each application, with the URL of its address.
    pub(crate) fn views(&self) -> impl Iterator<Item = (&str, AppView)> {
        self.addresses.iter().flat_map(|(url, apps)| apps.view().into_iter().map(|view| (url.as_str(), view)))
    }

    /// Drops the stored responses of these URLs, and those with these tags, of the application `name`. Returns how many; `None`: there is no
    /// such application.
    pub(crate) fn purge(&self, name: &str, urls: &[String], tags: &[String]) -> Option<u64> {
        self.addresses.iter().find_map(|(_, apps)| apps.purge(name, urls, tags))
    }

    /// How many WebSockets and event streams are open.
    pub(crate) fn streams(&self) -> u64 {
        self.addresses.iter().map(|(_, apps)| apps.streams()).sum()
    }

    /// Ends all WebSockets and event streams.
    pub(crate) fn end_streams(&self) {
        self.addresses.iter().for_each(|(_, apps)| apps.end_streams());
    }
}
