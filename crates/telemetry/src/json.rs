//! Writes an event as a JSON object. Programs that read the file rely on the names.
//!
//! It is written by hand because each request ends here: a general serializer took half the time of all recording.

use crate::{Event, MemberRecord, Millis, Op, Reason, Tally};
use std::cell::Cell;
use std::io;

/// Appends the event to `lines` as one line. Empty texts are left out.
pub(crate) fn write(event: &Event, lines: &mut Vec<u8>) -> io::Result<()> {
    // Enough for most events, so that memory is allocated once.
    lines.reserve(1024);
    let mut object = Object::begin(lines);
    object.key("id").quoted(&event.id.digits());
    moment(object.key("at"), event.at);
    object.text("kind", event.kind.as_str())?;
    object.key("method");
    object.value(event.method)?;
    object.text("protocol", event.protocol)?;
    object.text("path", &event.path)?;
    object.text("repository", &event.subject.repository)?;
    object.text("package", &event.subject.package)?;
    object.text("version", &event.subject.version)?;
    object.text("file", event.subject.kind)?;
    object.text("client", &event.client)?;
    object.text("agent", &event.agent)?;
    object.text("token", &event.token)?;
    object.key("status").number(event.status.into());
    match event.outcome {
        Some(outcome) => object.text("outcome", outcome.as_str())?,
        None => object.key("outcome").put(b"null"),
    }
    object.text("reason", event.reason.map_or("", Reason::as_str))?;
    object.text("detail", &event.detail)?;
    object.text("layer", event.layer.as_str())?;
    object.key("bytes_in").number(event.bytes_in);
    object.key("bytes_out").number(event.bytes_out);
    object.key("first_byte_ms").millis(event.first_byte);
    object.key("duration_ms").millis(event.duration);
    ops(object.key("ops"), event.tallies());
    if !event.members.is_empty() {
        members(object.key("members"), &event.members)?;
    }
    object.key("weight").number(event.weight.into());
    object.put(b"}\n");
    Ok(())
}

/// Writes the ops that ran: `{"truth.read": {"count": 2, "ms": 0.13}}`.
fn ops(object: &mut Object<'_>, tallies: impl Iterator<Item = (Op, Tally)>) {
    let mut object = Object::begin(object.lines);
    for (op, tally) in tallies {
        let mut cost = Object::begin(object.key(op.as_str()).lines);
        cost.key("count").number(tally.count.into());
        cost.key("ms").millis(tally.nanos);
        cost.put(b"}");
    }
    object.put(b"}");
}

fn members(object: &mut Object<'_>, members: &[MemberRecord]) -> io::Result<()> {
    for (number, record) in members.iter().enumerate() {
        object.put(if number == 0 { b"[" } else { b"," });
        let mut member = Object::begin(object.lines);
        member.key("member");
        member.value(&record.member)?;
        member.text("said", record.said.as_str())?;
        member.text("reason", record.reason.map_or("", Reason::as_str))?;
        member.text("detail", &record.detail)?;
        if let Some(until) = record.until {
            moment(member.key("until"), until);
        }
        member.key("ms").millis(record.nanos);
        if let Some(flight) = record.flight {
            member.text("flight", &flight.to_string())?;
        }
        ops(member.key("ops"), record.ops.iter().copied());
        member.put(b"}");
    }
    object.put(b"]");
    Ok(())
}

/// Writes a moment as RFC 3339 in UTC with milliseconds. The part up to the second is rendered once for all events of that second.
fn moment(object: &mut Object<'_>, at: Millis) {
    thread_local!(static SECOND: Cell<(i64, [u8; 20])> = const { Cell::new((i64::MIN, [0; 20])) });
    let (mut second, mut text) = SECOND.get();
    if second != at.seconds() {
        let whole = Millis(at.seconds().saturating_mul(1000)).to_string();
        let Some(start) =
            whole.as_bytes().first_chunk::<20>().filter(|_| whole.len() == "2026-11-01T12:00:00.000Z".len())
        else {
            return object.quoted(at.to_string().as_bytes());
        };
        (second, text) = (at.seconds(), *start);
        SECOND.set((second, text));
    }
    let millis = at.0.rem_euclid(1000).cast_unsigned();
    object.put(b"\"");
    object.put(&text);
    object.three_digits(millis);
    object.put(b"Z\"");
}

/// An object that is being written.
struct Object<'a> {
    lines: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Object<'a> {
    fn begin(lines: &'a mut Vec<u8>) -> Self {
        lines.push(b'{');
        Self { lines, empty: true }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.lines.extend_from_slice(bytes);
    }

    /// Writes one of our own keys, which needs no escaping. Its value comes next.
    fn key(&mut self, key: &str) -> &mut Self {
        let first = std::mem::take(&mut self.empty);
        self.put(if first { b"\"" } else { b",\"" });
        self.put(key.as_bytes());
        self.put(b"\":");
        self
    }

    /// Writes a key and its text, unless the text is empty.
    fn text(&mut self, key: &str, text: &str) -> io::Result<()> {
        if text.is_empty() { Ok(()) } else { self.key(key).value(text) }
    }

    /// Writes a text as a value.
    fn value(&mut self, text: &str) -> io::Result<()> {
        // Without branches, so that the compiler uses instructions for 16 bytes at once.
        let odd = |byte: u8| !matches!(byte, b' '..=b'~') | (byte == b'"') | (byte == b'\\');
        if text.bytes().fold(false, |any, byte| any | odd(byte)) {
            serde_json::to_writer(&mut *self.lines, text)?;
        } else {
            self.quoted(text.as_bytes());
        }
        Ok(())
    }

    /// Writes a text that needs no escaping.
    fn quoted(&mut self, bytes: &[u8]) {
        self.put(b"\"");
        self.put(bytes);
        self.put(b"\"");
    }

    fn number(&mut self, mut number: u64) {
        let mut digits = [b'0'; 20];
        let mut at = digits.len() - 1;
        loop {
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
            at -= 1;
        }
        self.put(&digits[at..]);
    }

    /// Writes nanoseconds as milliseconds, rounded to a microsecond.
    fn millis(&mut self, nanos: u64) {
        let micros = nanos.saturating_add(500) / 1000;
        self.number(micros / 1000);
        self.put(b".");
        self.three_digits(micros % 1000);
    }

    fn three_digits(&mut self, number: u64) {
        self.put(&[number / 100, number / 10 % 10, number % 10].map(|digit| b'0' + digit as u8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventId, MemberSaid, Outcome, Subject, Tick};
    use serde_json::{Value, json};

    fn written(event: &Event) -> Value {
        let mut line = Vec::new();
        write(event, &mut line).unwrap();
        assert_eq!(line.pop(), Some(b'\n'));
        serde_json::from_slice(&line).unwrap()
    }

    #[test]
    fn an_event_is_a_line_of_json_whatever_it_says() {
        let mut event = Event::request(Millis(1_793_534_400_007), Tick(0));
        (event.method, event.path) = ("GET", "/a \"b\" \\ \u{7} é".to_owned());
        event.subject = Subject { repository: "gems".into(), kind: "info", ..Subject::default() };
        (event.status, event.outcome, event.reason) = (200, Some(Outcome::Answered), Some(Reason::Io));
        (event.bytes_out, event.first_byte, event.duration) = (u64::MAX, 12_345_678, 999_999_600);
        let known = MemberRecord {
            detail: "x".into(),
            until: Some(Millis(1)),
            ..MemberRecord::new("z", MemberSaid::NotFound, Some(Reason::NoSuchFile))
        };
        let asked = MemberRecord {
            nanos: 1500,
            ops: vec![(Op::TruthRead, Tally { count: 2, nanos: 1_000_000 })],
            flight: Some(EventId(7)),
            ..MemberRecord::new("x\"y", MemberSaid::Hit, None)
        };
        event.members = vec![known, asked];
        event.add(Op::PageLookup, 499);
        let said = written(&event);
        let expected = json!({
            "id": event.id.to_string(), "at": "2026-11-01T12:00:00.007Z", "kind": "request", "method": "GET",
            "path": "/a \"b\" \\ \u{7} é", "repository": "gems", "file": "info", "status": 200, "outcome": "answered",
            "reason": Reason::Io.as_str(), "layer": "none", "bytes_in": 0, "bytes_out": u64::MAX,
            "first_byte_ms": 12.346, "duration_ms": 1000.0, "ops": {"page.lookup": {"count": 1, "ms": 0.0}},
            "members": [{"member": "z", "said": "not_found", "reason": "no_such_file", "detail": "x",
                "until": "1970-01-01T00:00:00.001Z", "ms": 0.0, "ops": {}},
                {"member": "x\"y", "said": "hit", "ms": 0.002, "flight": "0000000000000007", "ops": {"truth.read": {"count": 2, "ms": 1.0}}}],
            "weight": 1,
        });
        assert_eq!(said, expected);
    }

    #[test]
    fn what_is_empty_is_left_out_but_for_numbers_and_the_outcome() {
        let said = written(&Event::job("sweep", Millis(-1)));
        let keys: Vec<&str> = said.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = [
            "id",
            "at",
            "kind",
            "method",
            "status",
            "outcome",
            "layer",
            "bytes_in",
            "bytes_out",
            "first_byte_ms",
            "duration_ms",
            "ops",
            "weight",
        ];
        expected.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!((&said["outcome"], &said["at"]), (&Value::Null, &json!("1969-12-31T23:59:59.999Z")));
    }

    #[test]
    fn each_event_tells_its_own_moment() {
        for at in [0, 1, 999, 1000, 1_793_534_400_000, i64::MAX, 5].map(Millis) {
            assert_eq!(written(&Event::job("sweep", at))["at"], at.to_string());
        }
    }
}
