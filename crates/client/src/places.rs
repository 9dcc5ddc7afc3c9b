//! The places for calls to a host. The nodes of a cluster share them, and each has a part.

use std::sync::{Arc, Mutex};
use telemetry::lock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places of this node.
#[derive(Debug)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    counts: Mutex<Counts>,
}

/// How many places there are, those in use included, and how many there should be.
#[derive(Debug)]
struct Counts {
    all: usize,
    wanted: usize,
}

/// A place in use. It is free again when this is dropped, unless there are too many.
#[derive(Debug)]
pub(crate) struct Place {
    of: Arc<Places>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Places {
    pub(crate) fn shared(all: usize) -> Arc<Self> {
        let counts = Mutex::new(Counts { all, wanted: all });
        Arc::new(Self { free: Arc::new(Semaphore::new(all)), counts })
    }

    /// How many there are.
    pub(crate) fn all(&self) -> u64 {
        lock(&self.counts).all as u64
    }

    /// From now on there are so many. Calls under way go on, and if there are too many, no other call follows them.
    pub(crate) fn set(&self, wanted: usize) {
        let mut counts = lock(&self.counts);
        counts.wanted = wanted;
        match wanted.checked_sub(counts.all) {
            Some(more) => {
                self.free.add_permits(more);
                counts.all = wanted;
            }
            None => counts.all -= self.free.forget_permits(counts.all - wanted),
        }
    }

    /// A place, if one is free.
    pub(crate) fn try_take(self: &Arc<Self>) -> Option<Place> {
        let permit = self.free.clone().try_acquire_owned().ok()?;
        Some(Place { of: self.clone(), permit: Some(permit) })
    }

    /// A place, once one is free.
    pub(crate) async fn take(self: &Arc<Self>) -> Place {
        // The semaphore is never closed.
        let permit = self.free.clone().acquire_owned().await.ok();
        Place { of: self.clone(), permit }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A permit that is returned goes to the next call that waits.
        let mut counts = lock(&self.of.counts);
        if counts.all > counts.wanted
            && let Some(permit) = self.permit.take()
        {
            permit.forget();
            counts.all -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn a_call_that_ends_gives_its_place_to_no_other_while_there_are_too_many() {
        let places = Places::shared(2);
        let (one, two) = (places.take().await, places.take().await);
        places.set(1);
        let mut waits = pin!(places.take());
        assert!(timeout(Duration::ZERO, &mut waits).await.is_err());
        drop(one);
        assert!(timeout(Duration::ZERO, &mut waits).await.is_err(), "one place is left, and it is in use");
        drop(two);
        drop(waits.await);
        assert_eq!(places.all(), 1);
    }
}
