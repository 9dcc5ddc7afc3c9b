//! The part of an event that an answer from memory never has. It is boxed, so that such an answer pays nothing for it.

use crate::{Arrival, Op, Tally, Text, UpstreamUse};

/// The part of an event that an answer from memory never has. A figure that is 0 and a part that is `None` were not recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct More {
    /// How much was asked for: gems, members, rows or files, as the question counts.
    pub size: u32,
    /// The state of the server when the request arrived.
    pub arrival: Option<Arrival>,
    /// How long the request waited before it reached the server, in nanoseconds, as a trusted proxy told.
    pub queued_outside: u64,
    /// The trace of the client, if it is sampled.
    pub trace: Option<Trace>,
    /// The calls to upstreams, its own and those of the fetches for which it waited.
    pub upstream: Option<UpstreamUse>,
    /// The work of an application in front of which the server stands.
    pub app: Option<Box<AppUse>>,
    /// The memory of the process while a job ran.
    pub memory: Option<JobMemory>,
    /// Ops that ran at the same time as the line, or as each other. The line has the time in which it waited for them.
    pub beside: Vec<(Op, Tally)>,
}

impl More {
    /// Records how much was asked for: gems, members, rows or files. Of several counts the largest one stays.
    pub fn sized(&mut self, count: usize) {
        self.size = self.size.max(u32::try_from(count).unwrap_or(u32::MAX));
    }
}

/// The work of an application for one request. Empty texts are not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppUse {
    /// The lane, by the first of its paths; empty: the slots that no lane has.
    pub lane: Text,
    /// The backend that answered last.
    pub backend: Text,
    /// The state of the cache, as `Cache-Status` names it (RFC 9211): `hit`, `fwd=miss`, `fwd=stale` ... [`crate::Event::app_cache`] also
    /// knows it of a hit from memory, whose event does not have this part.
    pub cache: &'static str,
    /// What became of the page that the application wrote, by the name of its [`crate::PageOutcome`]. Empty: it writes none, or the request
    /// is none for a page. [`crate::Event::app_page`] also knows it of a page whose event does not have this part.
    pub page: &'static str,
    /// How many requests waited for the same slots when this one arrived.
    pub ahead: u32,
    /// The `Server-Timing` of the application's response, unchanged. When the event is stored, secrets in it are hidden and at most
    /// [`crate::Event::TEXT_MAX`] bytes are left.
    pub server_timing: Text,
}

/// A trace as the header `traceparent` names it (W3C Trace Context, section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    /// The id of the trace, never 0.
    pub id: u128,
    /// The id of the span of the client, never 0.
    pub parent: u64,
}

/// The resident memory of the process while a job ran, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobMemory {
    /// When it began.
    pub before: u64,
    /// The highest amount that was seen.
    pub highest: u64,
    /// When it ended.
    pub after: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_count_is_the_size() {
        let mut more = More::default();
        for count in [3, 7, usize::MAX, 2] {
            more.sized(count);
        }
        assert_eq!(more.size, u32::MAX);
    }
}
