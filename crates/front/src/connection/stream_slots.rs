//! Limits the streams of an HTTP/2 connection that outlast their turn. Each counts as a connection.

use crate::clients;
use crate::listen::core_context::CoreContext;
use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;
use telemetry::{BoundName, Full, Reason, Slot};

/// The slots of one connection.
pub(crate) struct StreamSlots {
    core: Rc<CoreContext>,
    client: IpAddr,
    /// How many are in use. The first is free, because the connection itself is counted.
    taken: Rc<Cell<u32>>,
}

impl StreamSlots {
    /// The slots of a connection of `client`.
    pub(crate) fn new(core: Rc<CoreContext>, client: IpAddr) -> Self {
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

/// One slot.
pub(crate) struct StreamSlot {
    taken: Rc<Cell<u32>>,
    _counted: Option<(Slot, Option<clients::ClientSlot>)>,
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.taken.set(self.taken.get() - 1);
    }
}

/// The reason why there was no slot.
pub(crate) fn why(full: Full) -> Reason {
    match full {
        Full(BoundName::ClientConnections) => Reason::TooManyOfClient,
        Full(_) => Reason::TooManyConnections,
    }
}
