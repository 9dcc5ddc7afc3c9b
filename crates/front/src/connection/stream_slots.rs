//! How many streams of one HTTP/2 connection have more under way than one turn. Each counts as a connection does.

use crate::clients;
use crate::listen::core_context::Core;
use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;
use telemetry::{BoundName, Full, Reason, Slot};

/// Where what goes on beyond its turn takes its place.
pub(crate) struct Places<H> {
    core: Rc<Core<H>>,
    client: IpAddr,
    /// How many this connection has. The first comes with it.
    taken: Rc<Cell<u32>>,
}

impl<H> Places<H> {
    /// Those of a connection of `client`.
    pub(crate) fn new(core: Rc<Core<H>>, client: IpAddr) -> Self {
        Self { core, client, taken: Rc::default() }
    }

    pub(crate) fn take(&self) -> Result<Place, Full> {
        let counted = match self.taken.get() {
            0 => None,
            _ => Some((self.core.connections.enter()?, self.core.enter(self.client)?)),
        };
        self.taken.set(self.taken.get() + 1);
        Ok(Place { taken: self.taken.clone(), _counted: counted })
    }
}

/// One of them.
pub(crate) struct Place {
    taken: Rc<Cell<u32>>,
    _counted: Option<(Slot, Option<clients::Place>)>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.taken.set(self.taken.get() - 1);
    }
}

/// Why there was no place.
pub(crate) fn why(full: Full) -> Reason {
    match full {
        Full(BoundName::ClientConnections) => Reason::TooManyOfClient,
        Full(_) => Reason::TooManyConnections,
    }
}
