//! A gate that a test opens, or that opens by itself once enough are inside: so a test knows what happens at the same time without a
//! clock.

use crate::world::TIMEOUT;
use std::io;
use std::sync::{Arc, Condvar, Mutex};

/// A gate. Clones are the same gate.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<(Mutex<Inside>, Condvar)>);

#[derive(Default)]
struct Inside {
    /// How many have come to the gate so far.
    came: usize,
    /// It opens by itself when this many have come.
    opens_at: Option<usize>,
    open: bool,
}

impl Gate {
    /// A closed one.
    pub(super) fn closed() -> Self {
        Self::default()
    }

    /// One that opens when this many have come.
    pub(super) fn opens_at(count: usize) -> Self {
        let gate = Self::default();
        gate.0.0.lock().unwrap().opens_at = Some(count);
        gate
    }

    /// Opens it.
    pub(super) fn open(&self) {
        self.0.0.lock().unwrap().open = true;
        self.0.1.notify_all();
    }

    /// Comes to the gate, and waits until it is open. Fails if it never opens.
    pub(super) fn pass(&self) -> io::Result<()> {
        let (inside, changed) = &*self.0;
        let mut inside = inside.lock().unwrap();
        inside.came += 1;
        inside.open |= inside.opens_at.is_some_and(|count| inside.came >= count);
        changed.notify_all();
        let (inside, _) = changed.wait_timeout_while(inside, TIMEOUT, |inside| !inside.open).unwrap();
        if inside.open { Ok(()) } else { Err(io::Error::other("the gate did not open")) }
    }

    /// Waits until this many have come.
    #[track_caller]
    pub(super) fn await_inside(&self, count: usize) {
        let (inside, changed) = &*self.0;
        let (inside, _) =
            changed.wait_timeout_while(inside.lock().unwrap(), TIMEOUT, |inside| inside.came < count).unwrap();
        assert!(inside.came >= count, "{} came, not {count}", inside.came);
    }
}
