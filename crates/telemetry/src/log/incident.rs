//! What goes wrong for a while: said once when it begins and once when it is over, however many requests meet it meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether something goes wrong now.
#[derive(Debug, Default)]
pub struct Incident(AtomicBool);

impl Incident {
    /// Notes that it goes wrong, and has `say` write the one line where it did not before.
    pub fn begin(&self, say: impl FnOnce()) {
        if !self.0.swap(true, Ordering::AcqRel) {
            say();
        }
    }

    /// Notes that it goes well, and has `say` write the one line where it did not before.
    pub fn end(&self, say: impl FnOnce()) {
        if self.is_on() && self.0.swap(false, Ordering::AcqRel) {
            say();
        }
    }

    /// Whether it goes wrong now.
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
