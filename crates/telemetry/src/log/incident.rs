//! A problem that lasts for a while. The log reports its begin and its end once each, however many requests meet it.

use std::sync::atomic::{AtomicBool, Ordering};

/// A problem that lasts for a while.
#[derive(Debug, Default)]
pub struct Incident(AtomicBool);

impl Incident {
    /// The problem exists. Calls `say` if it did not exist before.
    pub fn begin(&self, say: impl FnOnce()) {
        if !self.0.swap(true, Ordering::AcqRel) {
            say();
        }
    }

    /// The problem does not exist. Calls `say` if it existed before.
    pub fn end(&self, say: impl FnOnce()) {
        if self.is_on() && self.0.swap(false, Ordering::AcqRel) {
            say();
        }
    }

    /// Whether the problem exists now.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn each_beginning_and_each_end_is_said_once() {
        let (incident, lines) = (Incident::default(), Cell::new(0));
        let say = || lines.set(lines.get() + 1);
        incident.end(say);
        assert_eq!((lines.get(), incident.is_on()), (0, false));
        (0..3).for_each(|_| incident.begin(say));
        assert_eq!((lines.get(), incident.is_on()), (1, true));
        (0..3).for_each(|_| incident.end(say));
        assert_eq!((lines.get(), incident.is_on()), (2, false));
    }
}
