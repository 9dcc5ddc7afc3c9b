//! A line of a recording: an event, or what `daylight tail` says about the stream of events. Recordings may be hostile.

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use telemetry::Millis;

/// A line.
#[derive(Debug)]
pub(super) enum Line<'a> {
    Event(Box<EventLine<'a>>),
    /// So many events of this connection were lost so far.
    Lost(u64),
    /// The events are a sample of all.
    Sampled,
    /// The connection to the server broke, so events are missing.
    Broken,
    /// A node of several does not answer, so events are missing.
    Silent,
    /// It says nothing about events.
    Other,
}

/// An event, as far as a replay needs it. Texts are empty and numbers 0 where the event has none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EventLine<'a> {
    #[serde(borrow)]
    at: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) layer: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) method: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) path: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) repository: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) file: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) agent: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) token: Cow<'a, str>,
    pub(super) status: u16,
    pub(super) bytes_out: u64,
    duration_ms: f64,
    weight: u32,
    lost: Option<Counts>,
    sampled: Option<IgnoredAny>,
    broken: Option<IgnoredAny>,
    connected: Option<IgnoredAny>,
    silent: Option<IgnoredAny>,
    heard: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    lost: u64,
}

impl EventLine<'_> {
    /// When it began; `None`: the text is no moment.
    pub(super) fn at(&self) -> Option<Millis> {
        self.at.parse::<jiff::Timestamp>().ok().map(|at| Millis(at.as_millisecond()))
    }

    /// How long it took, in nanoseconds.
    pub(super) fn duration(&self) -> u64 {
        // A conversion saturates: neither a negative number nor a huge one is a danger.
        (self.duration_ms * 1e6) as u64
    }

    /// Whether it stands for others, too.
    pub(super) fn is_of_sample(&self) -> bool {
        self.weight > 1
    }
}

/// Reads a line without its end. `None`: it is neither.
pub(super) fn read(line: &[u8]) -> Option<Line<'_>> {
    let event: EventLine<'_> = serde_json::from_slice(line).ok()?;
    if let Some(Counts { lost }) = event.lost {
        return Some(Line::Lost(lost));
    }
    if event.sampled.is_some() {
        return Some(Line::Sampled);
    }
    if event.broken.is_some() {
        return Some(Line::Broken);
    }
    if event.silent.is_some() {
        return Some(Line::Silent);
    }
    if event.connected.is_some() || event.heard.is_some() {
        return Some(Line::Other);
    }
    let is_event = matches!(&*event.kind, "request" | "job") && event.at().is_some();
    is_event.then(|| Line::Event(Box::new(event)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(line: &str) -> Option<EventLine<'_>> {
        match read(line.as_bytes())? {
            Line::Event(event) => Some(*event),
            _ => None,
        }
    }

    #[test]
    fn an_event_has_its_moment_and_its_duration_and_other_lines_are_told_apart() {
        let text = r#"{"id":"1","at":"2026-11-01T12:00:00.250Z","kind":"request","method":"GET","path":"/a\"b","status":200,"duration_ms":1.5,"new":[{}]}"#;
        let read_event = event(text).unwrap();
        assert_eq!((read_event.at().unwrap().0 % 1000, read_event.duration()), (250, 1_500_000));
        assert_eq!((&*read_event.path, read_event.is_of_sample()), ("/a\"b", false));
        assert!(matches!(read(br#"{"lost":{"matched":9,"sent":7,"lost":2}}"#), Some(Line::Lost(2))));
        assert!(matches!(read(br#"{"sampled":{"matched":9,"sent":7,"lost":0}}"#), Some(Line::Sampled)));
        assert!(matches!(read(br#"{"broken":{"why":"x"}}"#), Some(Line::Broken)));
        assert!(matches!(read(br#"{"connected":{}}"#), Some(Line::Other)));
        assert!(matches!(read(br#"{"silent":{"node":"b","why":"x"}}"#), Some(Line::Silent)));
        assert!(matches!(read(br#"{"heard":{"node":"b"}}"#), Some(Line::Other)));
        for wrong in [
            "",
            "{}",
            "[]",
            "null",
            "GET /",
            r#"{"kind":"request"}"#,
            r#"{"kind":"request","at":"yesterday"}"#,
            r#"{"kind":"other","at":"2026-11-01T12:00:00Z"}"#,
            r#"{"kind":"request","at":"2026-11-01T12:00:00Z","status":70000}"#,
            r#"{"kind":"request","at":"2026-11-01T12:00:00Z","status":-1}"#,
            r#"{"kind":"request","at":"2026-11-01T12:00:00Z","path":7}"#,
        ] {
            assert!(read(wrong.as_bytes()).is_none(), "{wrong}");
        }
        for (number, nanos) in [("-5", 0), ("1e300", u64::MAX)] {
            let text = format!(r#"{{"at":"2026-11-01T12:00:00Z","kind":"job","duration_ms":{number}}}"#);
            assert_eq!(event(&text).unwrap().duration(), nanos);
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&line);
        }
    }
}
