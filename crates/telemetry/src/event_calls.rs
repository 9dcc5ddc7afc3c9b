//! The calls to upstreams of an event.

use crate::{Event, UpstreamUse};

impl Event {
    /// The part about upstreams, made now if there is none.
    pub fn upstream_mut(&mut self) -> &mut UpstreamUse {
        self.more_mut().upstream.get_or_insert_default()
    }

    /// The part about upstreams, if it has one.
    pub fn upstream(&self) -> Option<&UpstreamUse> {
        self.more.as_ref().and_then(|more| more.upstream.as_ref())
    }
}
