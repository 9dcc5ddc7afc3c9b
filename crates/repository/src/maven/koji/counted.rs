//! How much a Koji repository asks its hub for what clients ask it, for operators: it must ask next to nothing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Calls of the hub and requests of clients since the start.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    calls: AtomicU64,
    requests: AtomicU64,
}

impl Counted {
    /// Counts a call of the hub.
    pub(crate) fn call(&self) {
        self.calls.fetch_add(1, Relaxed);
    }

    /// Counts a request that the map answers. One that is answered from the memory of the server, or before the first
    /// map, does not count.
    pub(crate) fn request(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    /// Calls of the hub for a request. `None`: there was no request.
    pub(crate) fn calls_per_request(&self) -> Option<f64> {
        let (calls, requests) = (self.calls.load(Relaxed), self.requests.load(Relaxed));
        (requests > 0).then(|| calls as f64 / requests as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_for_each_request_and_not_before_there_is_one() {
        let counted = Counted::default();
        counted.call();
        assert_eq!(counted.calls_per_request(), None);
        (0..4).for_each(|_| counted.request());
        assert_eq!(counted.calls_per_request(), Some(0.25));
    }
}
