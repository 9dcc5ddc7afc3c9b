//! Writes an event as a JSON object. Programs that read the file rely on the names.
//!
//! It is written by hand because each request ends here: a general serializer took half the time of all recording.

use crate::{Agent, Class, ClosedBy, Event, MemberRecord, Millis, More, Op, OpPlace, Reason, Tally, UpstreamUse};
use std::cell::{Cell, RefCell};
use std::io;

impl Event {
    /// The event as a JSON object, as it is stored.
    pub fn json(&self) -> serde_json::Value {
        let mut line = Vec::new();
        let written = write(self, &mut line).ok();
        written.and_then(|()| serde_json::from_slice(&line).ok()).unwrap_or_default()
    }
}

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
    agent(&mut object, &event.agent)?;
    object.text("token", &event.token)?;
    object.key("status").number(event.status.into());
    match event.outcome {
        Some(outcome) => object.text("outcome", outcome.as_str())?,
        None => object.key("outcome").put(b"null"),
    }
    object.text("reason", event.reason.map_or("", Reason::as_str))?;
    object.text("detail", &event.detail)?;
    object.text("layer", event.layer.as_str())?;
    object.text("class", event.class.map_or("", Class::as_str))?;
    object.key("bytes_in").number(event.bytes_in);
    object.key("bytes_out").number(event.bytes_out);
    object.key("first_byte_ms").millis(event.first_byte);
    object.key("duration_ms").millis(event.duration);
    object.key("unaccounted_ms").signed_millis(event.unaccounted());
    ops(object.key("ops"), event.tallies());
    if !event.members.is_empty() {
        members(object.key("members"), &event.members)?;
    }
    if let Some(part) = &event.more {
        more(&mut object, part)?;
    }
    app(&mut object, event)?;
    object.key("weight").number(event.weight.into());
    object.text("kept_because", event.because.as_str())?;
    object.put(b"}\n");
    Ok(())
}

/// Writes the agent and its parts. All requests of a connection send the same agent, so the bytes of the last one are kept.
fn agent(object: &mut Object<'_>, agent: &str) -> io::Result<()> {
    thread_local!(static LAST: RefCell<(String, Vec<u8>)> = RefCell::default());
    LAST.with_borrow_mut(|(last, written)| {
        if *last != *agent {
            written.clear();
            agent.clone_into(last);
            let Agent { product, version, ci, run } = Agent::read(agent);
            // Its keys come after others.
            let mut parts = Object { lines: written, empty: false };
            parts.text("agent", agent)?;
            parts.text("client_product", product)?;
            parts.text("client_version", version)?;
            parts.text("ci", ci)?;
            parts.text("run", run)?;
        }
        object.put(written);
        Ok(())
    })
}

/// Writes the keys of the part that an answer from memory does not have.
fn more(object: &mut Object<'_>, more: &More) -> io::Result<()> {
    if more.size > 0 {
        object.key("size").number(more.size.into());
    }
    if let Some(arrival) = &more.arrival {
        let mut part = Object::begin(object.key("arrival").lines);
        part.key("in_flight").number(arrival.in_flight.into());
        part.key("late_ms").millis(arrival.late);
        part.key("class_used").number(arrival.class_used.into());
        part.put(b"}");
    }
    if more.queued_outside > 0 {
        object.key("queued_outside_ms").millis(more.queued_outside);
    }
    if let Some(trace) = &more.trace {
        object.text("trace", &format!("{:032x}", trace.id))?;
        object.text("trace_parent", &format!("{:016x}", trace.parent))?;
    }
    if let Some(used) = &more.upstream {
        upstream(object.key("upstream"), used)?;
    }
    if let Some(memory) = &more.memory {
        let mut part = Object::begin(object.key("memory").lines);
        part.key("before_bytes").number(memory.before);
        part.key("highest_bytes").number(memory.highest);
        part.key("after_bytes").number(memory.after);
        part.put(b"}");
    }
    if !more.beside.is_empty() {
        ops(object.key("beside"), more.beside.iter().copied());
    }
    Ok(())
}

/// Writes the work of an application.
fn app(object: &mut Object<'_>, event: &Event) -> io::Result<()> {
    let (used, cache) = (event.more.as_ref().and_then(|more| more.app.as_deref()), event.app_cache());
    let page = event.app_page();
    if used.is_none() && cache.is_empty() {
        return Ok(());
    }
    let mut part = Object::begin(object.key("app").lines);
    if let Some(used) = used {
        part.text("lane", &used.lane)?;
        part.text("backend", &used.backend)?;
    }
    part.text("cache", cache)?;
    part.text("page", page)?;
    if let Some(used) = used {
        if used.ahead > 0 {
            part.key("ahead").number(used.ahead.into());
        }
        part.text("server_timing", &used.server_timing)?;
    }
    part.put(b"}");
    Ok(())
}

/// Writes the calls to upstreams. Figures that are 0 are left out, except for the status and the number of calls.
fn upstream(object: &mut Object<'_>, used: &UpstreamUse) -> io::Result<()> {
    let mut part = Object::begin(object.lines);
    part.text("host", &used.host)?;
    part.key("status").number(used.status.into());
    part.key("calls").number(used.calls.into());
    let figures = [
        ("redirected", used.redirected),
        ("connects", used.connects),
        ("reused", used.reused),
        ("pauses", used.pauses),
    ];
    for (key, figure) in figures.into_iter().filter(|(_, figure)| *figure > 0) {
        part.key(key).number(figure.into());
    }
    part.text("closed_by", used.closed_by.map_or("", ClosedBy::as_str))?;
    if used.bytes > 0 {
        part.key("bytes").number(used.bytes);
    }
    if let Some(flight) = used.flight {
        part.key("flight").quoted(&flight.digits());
    }
    if used.followed > 0 {
        part.key("followed").number(used.followed.into());
        for (number, id) in used.followers.iter().enumerate() {
            if number == 0 {
                part.key("followers");
            }
            part.put(if number == 0 { b"[" } else { b"," });
            part.quoted(&id.digits());
        }
        if !used.followers.is_empty() {
            part.put(b"]");
        }
    }
    part.put(b"}");
    Ok(())
}

/// Writes the ops that ran: `{"truth.read": {"count": 2, "ms": 0.13}}`. Ops that are not on the line have `"inside": true`.
fn ops(object: &mut Object<'_>, tallies: impl Iterator<Item = (Op, Tally)>) {
    let mut object = Object::begin(object.lines);
    for (op, tally) in tallies {
        let mut cost = Object::begin(object.key(op.as_str()).lines);
        cost.key("count").number(tally.count.into());
        if tally.vain > 0 {
            cost.key("vain").number(tally.vain.into());
        }
        cost.key("ms").millis(tally.nanos);
        if op.place() == OpPlace::Inside {
            cost.key("inside").put(b"true");
        }
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
        if let Some(used) = &record.upstream {
            upstream(member.key("upstream"), used)?;
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

    /// Writes nanoseconds that may be negative, as milliseconds.
    fn signed_millis(&mut self, nanos: i64) {
        // A number that is rounded to 0 has no sign.
        if nanos <= -500 {
            self.put(b"-");
        }
        self.millis(nanos.unsigned_abs());
    }

    fn three_digits(&mut self, number: u64) {
        self.put(&[number / 100, number / 10 % 10, number % 10].map(|digit| b'0' + digit as u8));
    }
}

#[cfg(test)]
mod tests;
