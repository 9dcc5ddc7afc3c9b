//! How many streams of one HTTP/2 connection have more under way than one turn. Each counts as a connection does.

use crate::clients;
use crate::listen::core_context::CoreContext;
use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;
use telemetry::{BoundName, Full, Reason, Slot};

/// Where what goes on beyond its turn takes its slot.
pub(crate) struct StreamSlots<H> {
    core: Rc<CoreContext<H>>,
    client: IpAddr,
    /// How many this connection has. The first comes with it.
    taken: Rc<Cell<u32>>,
}

impl<H> StreamSlots<H> {
    /// Those of a connection of `client`.
    pub(crate) fn new(core: Rc<CoreContext<H>>, client: IpAddr) -> Self {
        Self { core, client, taken: Rc::default() }
    }

    pub(crate) fn take(&self) -> Result<StreamSlot, Full> {
        let counted = match self.taken.get() {
            0 => None,
            _ => Some((self.core.connections.enter()?, self.core.enter(self.client)?)),
        };
        self.taken.set(self.taken.get() + 1);
        Ok(StreamSlot { taken: self.taken.clone(), _counted: counted })
    }
}

/// One of them.
pub(crate) struct StreamSlot {
    taken: Rc<Cell<u32>>,
    _counted: Option<(Slot, Option<clients::ClientSlot>)>,
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.taken.set(self.taken.get() - 1);
    }
}

/// Why there was no slot.
pub(crate) fn why(full: Full) -> Reason {
    match full {
        Full(BoundName::ClientConnections) => Reason::TooManyOfClient,
        Full(_) => Reason::TooManyConnections,
    }
}
