//! The process log and the access log.
//!
//! Levels: error = a person must act; warn = somebody should look when there is time; info = what the process does;
//! debug = what helps to find a defect. There is no global: whoever logs was given a [`Log`].

mod access;
mod incident;

pub use access::AccessLog;
pub use incident::Incident;

use crate::{Clock, Lines};
use std::fmt::{Display, Write};
use std::sync::Arc;

/// How much a line matters, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// A person must act.
    Error,
    /// Something is not as it should be, and the process goes on.
    Warn,
    /// What the process does.
    Info,
    /// What helps to find a defect.
    Debug,
}

impl Level {
    /// All of them, most important first.
    pub const ALL: &'static [Level] = &[Level::Error, Level::Warn, Level::Info, Level::Debug];

    /// The name used in lines and settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}

/// What a line of a log looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineFormat {
    /// For people: `2026-11-01T12:00:00.000Z info message key=value`; the access log in the Combined form.
    Text,
    /// For programs: one JSON object a line.
    Json,
}

impl LineFormat {
    /// Both.
    pub const ALL: &'static [LineFormat] = &[LineFormat::Text, LineFormat::Json];

    /// The name used in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            LineFormat::Text => "text",
            LineFormat::Json => "json",
        }
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

    /// A log of what is at least as important as `level`.
    pub fn new(clock: Clock, level: Level, format: LineFormat, lines: Lines) -> Self {
        Self(Some(Arc::new(Inner { clock, level, format, lines })))
    }

    /// A log that says nothing, for tests.
    pub fn silent() -> Self {
        Self(None)
    }

    /// A person must act.
    pub fn error(&self, message: &str, fields: &[(&str, &dyn Display)]) {
        self.write(Level::Error, message, fields);
    }

    /// Something is not as it should be, and the process goes on.
    pub fn warn(&self, message: &str, fields: &[(&str, &dyn Display)]) {
        self.write(Level::Warn, message, fields);
    }

    /// What the process does.
    pub fn info(&self, message: &str, fields: &[(&str, &dyn Display)]) {
        self.write(Level::Info, message, fields);
    }

    /// What helps to find a defect.
    pub fn debug(&self, message: &str, fields: &[(&str, &dyn Display)]) {
        self.write(Level::Debug, message, fields);
    }

    /// From now on, the panics of the whole process are said here and no longer on stderr, where one would have to wait
    /// while nobody reads it. For `main`.
    pub fn take_panics(&self) {
        let log = self.clone();
        std::panic::set_hook(Box::new(move |panic| {
            let thread = std::thread::current();
            let at = panic.location().map(ToString::to_string).unwrap_or_default();
            let said = panic.payload_as_str().unwrap_or("no message");
            log.error(
                "a defect of ours: panic",
                &[("thread", &thread.name().unwrap_or("")), ("at", &at), ("said", &said)],
            );
        }));
    }

    fn write(&self, level: Level, message: &str, fields: &[(&str, &dyn Display)]) {
        let Some(inner) = self.0.as_ref().filter(|inner| level <= inner.level) else { return };
        let at = inner.clock.now().to_string();
        let message = clean(message);
        let fields = fields.iter().map(|(key, value)| (*key, clean(&value.to_string())));
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

/// Cut at [`Log::TEXT_MAX`] bytes, control characters replaced: no value can end a line or move a terminal's cursor.
fn clean(text: &str) -> String {
    let mut end = text.len().min(Log::TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
pub(crate) mod tests;
