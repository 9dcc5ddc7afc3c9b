//! What lines look like, and that no value can break them.

use super::*;
use crate::log::lines::{LinesOptions, Target};
use crate::{Event, JsonLines, Layer, MemberRecord, MemberSaid, Millis, Op, Outcome, Reason, Sink, Tally, Tick};
use std::io::{self, Write as _};
use std::sync::mpsc::{Receiver, Sender, channel};

const NOON: Millis = Millis(1_793_534_400_000);

struct Sends(Sender<Vec<u8>>);

impl io::Write for Sends {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends the written bytes to the receiver.
pub(crate) fn target() -> (Target, Receiver<Vec<u8>>) {
    let (write, written) = channel();
    (Target::writer(Box::new(Sends(write))), written)
}

/// What a log writes when `say` uses it.
fn said(level: Level, format: LineFormat, say: impl FnOnce(Log)) -> String {
    let (target, written) = target();
    say(Log::new(Clock::at(NOON), level, format, Lines::start(LinesOptions::default(), target)));
    String::from_utf8(written.iter().flatten().collect()).unwrap()
}

fn event() -> Box<Event> {
    let mut event = Event::request(NOON, Tick(0));
    event.method = "GET";
    event.protocol = "HTTP/1.1";
    event.path = "/repository/gems/info/rack\" \u{1b}[2J\n".to_owned();
    event.subject.repository = "gems".into();
    event.subject.kind = "info";
    event.client = "127.0.0.1".into();
    event.agent = "bundler/2 \"x\\".into();
    event.token = "ci bot".to_owned();
    (event.status, event.outcome, event.layer) = (404, Some(Outcome::NotFound), Layer::Group);
    event.reason = Some(Reason::NoSuchPackage);
    (event.bytes_out, event.duration, event.first_byte) = (12, 1_234_567, 1_000_000);
    event.add(Op::Route, 2_000);
    event.absorb(MemberRecord {
        nanos: 5_000,
        ops: vec![(Op::TruthRead, Tally { count: 2, vain: 0, nanos: 130_000 })],
        ..MemberRecord::new("inner", MemberSaid::NotFound, Some(Reason::NoSuchPackage))
    });
    event
}

#[test]
fn text_lines_are_for_people() {
    let say = |log: Log| {
        log.info("listening", &[("address", &"127.0.0.1:80"), ("count", &3), ("empty", &""), ("words", &"a \"b\"")]);
    };
    let line =
        "2026-11-01T12:00:00.000Z info listening address=127.0.0.1:80 count=3 empty=\"\" words=\"a \\\"b\\\"\"\n";
    assert_eq!(said(Level::Info, LineFormat::Text, say), line);
}

#[test]
fn json_lines_are_for_programs() {
    let line = said(Level::Debug, LineFormat::Json, |log| log.warn("it \"is\"", &[("why", &"no\u{7}"), ("n", &1)]));
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    let expected = serde_json::json!({
        "at": "2026-11-01T12:00:00.000Z", "level": "warn", "message": "it \"is\"", "why": "no\u{fffd}", "n": "1"
    });
    assert_eq!(value, expected);
}

#[test]
fn what_is_less_important_than_the_level_is_not_written() {
    let say = |log: Log| {
        log.error("1", &[]);
        log.warn("2", &[]);
        log.info("3", &[]);
        log.debug("4", &[]);
    };
    assert_eq!(said(Level::Warn, LineFormat::Text, say).lines().count(), 2);
    assert_eq!(said(Level::Debug, LineFormat::Text, say).lines().count(), 4);
    say(Log::silent());
}

#[test]
fn no_value_can_end_a_line_or_make_it_endless() {
    let long = "é".repeat(10_000);
    let lines = said(Level::Info, LineFormat::Text, |log| {
        log.info("a\nb\u{1b}", &[("key", &"c\r\nd\u{85}"), ("long", &long)]);
    });
    assert_eq!(lines.lines().count(), 1);
    assert!(lines.trim_end().chars().all(|c| !c.is_control()));
    assert!(lines.len() < 2 * Log::TEXT_MAX);
}

#[test]
fn an_access_line_is_in_the_combined_form_with_id_and_duration() {
    let (target, written) = target();
    let mut access = AccessLog::new(LineFormat::Text, target);
    let event = event();
    let id = event.id;
    access.write(&[*event, *Event::job("sweep", NOON)]).unwrap();
    let lines = String::from_utf8(written.try_iter().flatten().collect()).unwrap();
    let expected = format!(
        "127.0.0.1 - ci_bot [01/Nov/2026:12:00:00 +0000] \"GET /repository/gems/info/rack\\\" \u{fffd}[2J\u{fffd} HTTP/1.1\" 404 12 \
         \"-\" \"bundler/2 \\\"x\\\\\" {id} 1.235ms not_found\n"
    );
    assert_eq!(lines, expected);
}

#[test]
fn an_access_log_in_json_has_the_requests_only() {
    let (target, written) = target();
    let mut access = AccessLog::new(LineFormat::Json, target);
    access.write(&[*event(), *Event::job("sweep", NOON)]).unwrap();
    access.write(&[]).unwrap();
    let lines = String::from_utf8(written.try_iter().flatten().collect()).unwrap();
    assert_eq!(lines.lines().count(), 1);
}

#[test]
fn an_event_as_json_has_stable_names() {
    let (target, written) = target();
    let event = event();
    let id = event.id.to_string();
    JsonLines::new(target).write(&[*event]).unwrap();
    let line: Vec<u8> = written.try_iter().flatten().collect();
    let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
    let expected = serde_json::json!({
        "id": id, "at": "2026-11-01T12:00:00.000Z", "kind": "request", "method": "GET", "protocol": "HTTP/1.1",
        "path": "/repository/gems/info/rack\" \u{1b}[2J\n", "repository": "gems", "file": "info",
        "client": "127.0.0.1", "agent": "bundler/2 \"x\\", "client_product": "bundler", "client_version": "2", "token": "ci bot",
        "status": 404, "outcome": "not_found", "reason": "no_such_package", "layer": "group",
        "bytes_in": 0, "bytes_out": 12, "first_byte_ms": 1.0, "duration_ms": 1.235, "unaccounted_ms": 1.233,
        "ops": {"route.read": {"count": 1, "ms": 0.002}},
        "members": [{"member": "inner", "said": "not_found", "reason": "no_such_package", "ms": 0.005,
                     "ops": {"truth.read": {"count": 2, "ms": 0.13}}}],
        "weight": 1, "kept_because": "all"
    });
    assert_eq!(value, expected);
}

#[test]
fn a_sink_of_lines_tries_every_event_though_the_disk_was_full_for_a_moment() {
    let (write, written) = channel();
    let mut full = true;
    struct Disk<F>(F);
    impl<F: FnMut(&[u8]) -> io::Result<usize>> io::Write for Disk<F> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            (self.0)(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let disk = Disk(move |bytes: &[u8]| match std::mem::take(&mut full) {
        true => Err(io::ErrorKind::StorageFull.into()),
        false => Sends(write.clone()).write(bytes),
    });
    let events: Vec<_> = (0..1000).map(|_| *event()).collect();
    let error = JsonLines::new(Target::writer(Box::new(disk))).write(&events).unwrap_err();
    let lost: u64 = error.to_string().split(' ').next().unwrap().parse().unwrap();
    let lines = written.iter().flatten().filter(|byte| *byte == b'\n').count() as u64;
    assert!(lost > 0 && lost < 500);
    assert_eq!(lost + lines, 1000);
}

#[test]
fn panics_are_said_in_the_log() {
    let lines = said(Level::Info, LineFormat::Text, |log| {
        log.take_panics();
        let panicked = std::thread::Builder::new().name("worker".to_owned()).spawn(|| panic!("three is {}", 4));
        assert!(panicked.unwrap().join().is_err());
        drop(std::panic::take_hook());
    });
    assert!(
        lines.contains("error bug in Daylight: panic thread=worker at=crates/telemetry/src/log/tests.rs:"),
        "{lines}"
    );
    assert!(lines.contains("said=\"three is 4\""), "{lines}");
}
