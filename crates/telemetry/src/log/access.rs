//! The access log: a sink that writes one line for each request, in the Combined Log Format with additions, or as JSON.

use super::{LineFormat, clean};
use crate::event::json;
use crate::log::lines::Target;
use crate::{Event, Kind, Sink};
use std::io::{self, Write};

/// Writes a line for each request, and none for jobs.
#[derive(Debug)]
pub struct AccessLog {
    format: LineFormat,
    target: Target,
}

impl AccessLog {
    /// An access log to `target`.
    pub fn new(format: LineFormat, target: Target) -> Self {
        Self { format, target }
    }
}

impl Sink for AccessLog {
    fn name(&self) -> &'static str {
        "access"
    }

    fn write(&mut self, events: &[Event]) -> io::Result<()> {
        let requests = events.iter().filter(|event| event.kind == Kind::Request);
        match self.format {
            LineFormat::Text => self.target.write_each(requests, combined),
            LineFormat::Json => self.target.write_each(requests, json::write),
        }
    }
}

/// The Combined Log Format (client, user, time, request, status, bytes, referer, agent), followed by the event's id, duration and
/// outcome. The referer is never recorded.
fn combined(event: &Event, lines: &mut Vec<u8>) -> io::Result<()> {
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { clean(text).replace(' ', "_") };
    writeln!(
        lines,
        "{} - {} [{}] {:?} {} {} \"-\" {:?} {} {:.3}ms {}",
        or_dash(&event.client),
        or_dash(&event.token),
        time(event),
        clean(format!("{} {} {}", event.method, event.path, event.protocol).trim_end()),
        event.status,
        event.bytes_out,
        if event.agent.is_empty() { "-".to_owned() } else { clean(&event.agent) },
        event.id,
        event.duration as f64 / 1e6,
        event.outcome.map_or("-", |outcome| outcome.as_str()),
    )
}

/// `01/Nov/2026:12:00:00 +0000`.
fn time(event: &Event) -> String {
    match jiff::Timestamp::from_millisecond(event.at.0) {
        Ok(at) => at.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string(),
        Err(_) => "-".to_owned(),
    }
}
