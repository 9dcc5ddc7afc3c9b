//! A flag for threads that go on until it is set.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Sets a flag when it is dropped, also by a test that fails: or threads of its scope would never end.
pub(crate) struct SetAtEnd<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}
