//! The process log and the access log.
//!
//! Levels: error = somebody must act now; warn = somebody should look at it later; info = what the process does; debug = details
//! that help to find a defect. There is no global log: code that logs gets a [`Log`].

mod access;
mod causes;
mod incident;
pub(crate) mod lines;
pub(crate) mod scrub;

pub use access::AccessLog;
pub use causes::Causes;
pub use incident::Incident;

use crate::log::scrub::scrub;
use crate::{Clock, Lines};
use std::fmt::{Display, Write};
use std::sync::Arc;

crate::closed_list! {
    /// The level of a line, the most important first.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Level {
        /// Somebody must act now.
        Error = "error",
        /// Something is wrong, and the process goes on.
        Warn = "warn",
        /// What the process does.
        Info = "info",
        /// Details that help to find a defect.
        Debug = "debug",
    }
}

crate::closed_list! {
    /// The format of log lines.
    #[derive(Hash)]
    pub enum LineFormat {
        /// For people: `2026-11-01T12:00:00.000Z info message key=value`; the access log in the Combined form.
        Text = "text",
        /// For programs: one JSON object a line.
        Json = "json",
    }
}

/// The process log. Cheap to clone, never blocks, never fails.
#[derive(Debug, Clone)]
pub struct Log(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    clock: Clock,
    level: Level,
    format: LineFormat,
    lines: Lines,
}

impl Log {
    /// Longest value of a field, or message, in bytes. The rest is cut.
    pub const TEXT_MAX: usize = 2048;

    /// A log of lines that are at least as important as `level`.
    pub fn new(clock: Clock, level: Level, format: LineFormat, lines: Lines) -> Self {
        Self(Some(Arc::new(Inner { clock, level, format, lines })))
    }

    /// A log without output, for tests.
    pub fn silent() -> Self {
        Self(None)
    }

    /// Logs something on which somebody must act now.
    pub fn error(&self, message: &str, fields: &[(&str, &dyn Display)]) {
        self.write(Level::Error, message, fields);
    }

    /// Logs that something is wrong, and the process goes on.
    pub fn warn(&self, message: &str, fields: &[(&str, &dyn Display)]) {
        self.write(Level::Warn, message, fields);
    }

    /// Logs what the process does.
    pub fn info(&self, message: &str, fields: &[(&str, &dyn Display)]) {
        self.write(Level::Info, message, fields);
    }

    /// Logs details that help to find a defect.
    pub fn debug(&self, message: &str, fields: &[(&str, &dyn Display)]) {
        self.write(Level::Debug, message, fields);
    }

    /// Logs the panics of the whole process from now on, instead of writing them to stderr, which could block while nobody reads it.
    /// For `main`.
    pub fn take_panics(&self) {
        let log = self.clone();
        std::panic::set_hook(Box::new(move |panic| {
            let thread = std::thread::current();
            let at = panic.location().map(ToString::to_string).unwrap_or_default();
            let said = panic.payload_as_str().unwrap_or("no message");
            log.error(
                "bug in Daylight: panic",
                &[("thread", &thread.name().unwrap_or("")), ("at", &at), ("said", &said)],
            );
        }));
    }

    fn write(&self, level: Level, message: &str, fields: &[(&str, &dyn Display)]) {
        let Some(inner) = self.0.as_ref().filter(|inner| level <= inner.level) else { return };
        let at = inner.clock.now().to_string();
        // An error may repeat what a client or an upstream said.
        let message = scrub(message, Log::TEXT_MAX);
        let fields = fields.iter().map(|(key, value)| (*key, scrub(&value.to_string(), Log::TEXT_MAX)));
        inner.lines.push(&match inner.format {
            LineFormat::Text => text(&at, level, &message, fields),
            LineFormat::Json => json(&at, level, &message, fields),
        });
    }
}

fn text<'a>(at: &str, level: Level, message: &str, fields: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut line = format!("{at} {} {message}", level.as_str());
    for (key, value) in fields {
        // Writing to a string cannot fail.
        let _ = match value.is_empty() || value.contains([' ', '"', '=']) {
            true => write!(line, " {key}={value:?}"),
            false => write!(line, " {key}={value}"),
        };
    }
    line
}

fn json<'a>(at: &str, level: Level, message: &str, fields: impl Iterator<Item = (&'a str, String)>) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut line = format!(r#"{{"at":"{at}","level":"{}","message":{}"#, level.as_str(), quoted(message));
    for (key, value) in fields {
        let _ = write!(line, ",{}:{}", quoted(key), quoted(&value));
    }
    line.push('}');
    line
}

/// Cuts a text at [`Log::TEXT_MAX`] bytes and replaces control characters, so that no value can end a line or move the cursor of a
/// terminal.
fn clean(text: &str) -> String {
    let mut end = text.len().min(Log::TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
pub(crate) mod tests;
