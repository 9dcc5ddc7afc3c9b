//! The messages of a stream of Server-Sent Events (WHATWG HTML, 9.2): a name, a line of JSON, and an empty line.

use std::io::Write;

/// How soon a client connects again after the connection broke, in milliseconds.
const RETRY_MS: u32 = 2_000;
/// The most bytes of an event's message beside its line.
pub(super) const EVENT_MORE: usize = 48;
/// The most bytes of a message with counts.
pub(super) const COUNTS_MAX: u64 = 160;

/// Counts of the events so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Events that the filter chose.
    pub(super) matched: u64,
    /// Events that were sent, or wait to be.
    pub(super) sent: u64,
    /// Events for which the queue had no room. All others were left out of a sample.
    pub(super) lost: u64,
}

/// The first message: from now on no event is missed unnoticed.
pub(super) fn start() -> Vec<u8> {
    format!("retry: {RETRY_MS}\nevent: start\ndata: {{}}\n\n").into_bytes()
}

/// A message without a name: an event that stands for `weight` events. `line` is a JSON object without its last brace.
pub(super) fn event(messages: &mut Vec<u8>, line: &[u8], weight: u32) {
    messages.extend_from_slice(b"data: ");
    messages.extend_from_slice(line);
    // Writing to memory cannot fail.
    let _ = write!(messages, ",\"weight\":{weight}}}\n\n");
}

/// A message with the counts so far.
pub(super) fn counts(messages: &mut Vec<u8>, name: &str, counts: &Counts) {
    let Counts { matched, sent, lost } = counts;
    let data = format!("{{\"matched\":{matched},\"sent\":{sent},\"lost\":{lost}}}");
    // As above.
    let _ = write!(messages, "event: {name}\ndata: {data}\n\n");
}
