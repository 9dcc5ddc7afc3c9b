//! Why the clock of the machine cannot be believed.

use std::fmt;

/// Why the clock cannot be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockDoubt {
    /// The clock was set by this many milliseconds while the server ran; negative: it was set back.
    Jumped(i64),
    /// The clock is this many milliseconds behind the last change.
    Behind(i64),
    /// The clock is ahead of the database's by this many milliseconds; negative: it is behind it.
    OffFromDatabase(i64),
}

impl ClockDoubt {
    /// Until when nothing is written.
    pub(crate) fn until(self) -> &'static str {
        match self {
            Self::Jumped(_) | Self::Behind(_) => "somebody decides which is right",
            Self::OffFromDatabase(_) => "it is right",
        }
    }
}

impl fmt::Display for ClockDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ms, what) = match *self {
            Self::Jumped(ms) if ms < 0 => (ms, "was set back by"),
            Self::Jumped(ms) => (ms, "jumped ahead by"),
            Self::Behind(ms) => (ms, "is behind the last change by"),
            Self::OffFromDatabase(ms) if ms < 0 => (ms, "is behind that of the database by"),
            Self::OffFromDatabase(ms) => (ms, "is ahead of that of the database by"),
        };
        let seconds = ms.unsigned_abs() / 1000;
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
        write!(f, "the machine's clock {what} ")?;
        match (days, hours) {
            (0, 0) => write!(f, "{minutes} min {} s", seconds % 60),
            (0, _) => write!(f, "{hours} h {minutes} min"),
            _ => write!(f, "{days} d {hours} h"),
        }
    }
}
