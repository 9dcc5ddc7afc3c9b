//! The memory for bytes on their way to and from object storage. An operation waits until there is enough.

use std::sync::Arc;
use telemetry::{Bound, BoundName, Slot};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// All of it.
const BYTES: u64 = 256 << 20;
/// It is taken in units of this size.
const UNIT: u64 = 64 << 10;

#[derive(Debug)]
pub(crate) struct Memory {
    bound: Arc<Bound>,
    units: Arc<Semaphore>,
}

/// Memory that is taken. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Taken {
    // In this order: a caller that gets the units finds room in the bound.
    _slot: Option<Slot>,
    _units: Option<OwnedSemaphorePermit>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        let bound = Bound::new(BoundName::ObjectBytes, "", BYTES);
        Self { bound, units: Arc::new(Semaphore::new((BYTES / UNIT) as usize)) }
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        &self.bound
    }

    /// Waits for this much. More than all of it counts as all of it.
    pub(crate) async fn take(&self, bytes: u64) -> Taken {
        let units = bytes.div_ceil(UNIT).clamp(1, BYTES / UNIT);
        let many = u32::try_from(units).unwrap_or(u32::MAX);
        let taken = match self.units.clone().try_acquire_many_owned(many) {
            Ok(taken) => Some(taken),
            Err(_) => {
                let _waiting = self.bound.wait();
                // It is never closed.
                self.units.clone().acquire_many_owned(many).await.ok()
            }
        };
        Taken { _slot: self.bound.hold(units * UNIT).ok(), _units: taken }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_taken_is_bounded_and_a_larger_request_waits_for_all_of_it() {
        let memory = Memory::new();
        let half = memory.take(BYTES / 2).await;
        let all = memory.take(BYTES * 2);
        tokio::pin!(all);
        tokio::select! {
            biased;
            _ = &mut all => panic!("half of it is taken"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!((memory.bound.used(), memory.bound.rejected()), (BYTES / 2, 0));
        drop(half);
        let all = all.await;
        assert_eq!(memory.bound.used(), BYTES);
        drop(all);
        assert_eq!((memory.bound.used(), memory.bound.rejected()), (0, 0));
    }
}
