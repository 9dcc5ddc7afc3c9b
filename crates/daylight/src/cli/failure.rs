//! Reports failures: `error:` with the chain of causes, `hint:` where there is one, and an exit code.

use super::context::Context;
use crate::config;
use std::io::Write;
use std::process::ExitCode;

const FAILED: u8 = 1;
const USAGE: u8 = 2;

/// A failure that a verb detected itself, with a hint.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(super) struct Failure {
    text: String,
    hint: Option<String>,
    usage: bool,
}

impl Failure {
    /// The verb failed.
    pub(super) fn new(text: impl Into<String>, hint: Option<String>) -> Self {
        Self { text: text.into(), hint, usage: false }
    }

    /// The command line makes no sense.
    pub(super) fn usage(text: impl Into<String>, hint: &str) -> Self {
        Self { text: text.into(), hint: Some(hint.to_owned()), usage: true }
    }
}

/// Reports a failure. A closed pipe is none: in `daylight repo list | head -1` the reader has left.
pub(super) fn report(error: &anyhow::Error, err: &mut dyn Write) -> ExitCode {
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    // Where standard error is closed too, the exit code remains.
    let _ = write(error, err);
    let usage = error.chain().any(|cause| {
        cause.is::<config::Error>() || cause.downcast_ref::<Failure>().is_some_and(|failure| failure.usage)
    });
    ExitCode::from(if usage { USAGE } else { FAILED })
}

fn write(error: &anyhow::Error, err: &mut dyn Write) -> std::io::Result<()> {
    let mut last = error.to_string();
    writeln!(err, "error: {}", plain(&last))?;
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Some errors contain the text of their cause.
        if !last.ends_with(&cause) {
            writeln!(err, "  because: {}", plain(&cause))?;
        }
        last = cause;
    }
    for hint in error.chain().filter_map(hint) {
        writeln!(err, "hint: {}", plain(&hint))?;
    }
    err.flush()
}

fn hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(failure) = cause.downcast_ref::<Failure>() {
        return failure.hint.clone();
    }
    if let Some(error) = cause.downcast_ref::<config::Error>() {
        return error.hint();
    }
    if let Some(error) = cause.downcast_ref::<repository::Error>() {
        return error.hint();
    }
    if let Some(error) = cause.downcast_ref::<front::Error>() {
        return error.hint().map(Into::into);
    }
    if let Some(error) = cause.downcast_ref::<store::Error>() {
        return error.hint();
    }
    cause.downcast_ref::<client::Error>().and_then(client::Error::hint).map(str::to_owned)
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Prints what clap reports: help and version to standard output, errors to standard error.
pub(super) fn usage(error: &clap::Error, context: &mut Context<'_>) -> ExitCode {
    let to: &mut dyn Write = if error.use_stderr() { context.err } else { context.out };
    // A closed pipe is no failure here either.
    let _ = write!(to, "{}", error.render()).and_then(|()| to.flush());
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
}

/// Text from elsewhere without control characters, which a terminal would obey.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}
