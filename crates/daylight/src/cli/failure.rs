//! Reports failures: `error:` with the chain of causes, `hint:` where there is one, and an exit code. With `--json` one object.

use crate::config;
use clap::error::ErrorKind;
use serde_json::json;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

const FAILED: u8 = 1;
const USAGE: u8 = 2;

/// A failure that a verb detected itself, with a hint.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    text: String,
    hint: Option<String>,
    /// The status, where it is the answer of a server.
    status: Option<u16>,
    code: u8,
}

/// The command of `daylight front` has ended with another exit code than 0, which is taken over. There is nothing to report: the command has.
#[derive(Debug, thiserror::Error)]
#[error("the command ended with the exit code {0}")]
pub(crate) struct CommandEnded(u8);

impl CommandEnded {
    /// An error for every code but 0.
    pub(crate) fn of(code: u8) -> Result<(), Self> {
        if code == 0 { Ok(()) } else { Err(Self(code)) }
    }
}

impl Failure {
    /// The verb failed.
    pub(crate) fn new(text: impl Into<String>, hint: Option<String>) -> Self {
        Self { text: text.into(), hint, status: None, code: FAILED }
    }

    /// The status, where it is the answer of a server.
    pub(crate) fn status(&self) -> Option<u16> {
        self.status
    }

    /// A server answered with this status.
    pub(crate) fn answered(status: u16, text: impl Into<String>, hint: Option<String>) -> Self {
        Self { status: Some(status), ..Self::new(text, hint) }
    }

    /// The command line is wrong.
    pub(crate) fn usage(text: impl Into<String>, hint: &str) -> Self {
        Self { code: USAGE, ..Self::new(text, Some(hint.to_owned())) }
    }
}

impl Failure {
    /// The same with another exit code.
    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code, ..self }
    }
}

/// Reports a failure. A closed pipe is none: in `daylight repo list | head -1` the reader has left.
pub(crate) fn report(error: &anyhow::Error, json: bool, err: &mut dyn Write) -> ExitCode {
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    if let Some(CommandEnded(code)) = error.downcast_ref() {
        return ExitCode::from(*code);
    }
    // Where standard error is closed too, the exit code remains.
    let _ = if json { write_json(error, err) } else { write(error, err) };
    let code = error.chain().find_map(|cause| match cause.downcast_ref::<Failure>() {
        Some(failure) => Some(failure.code).filter(|code| *code != FAILED),
        None => cause.is::<config::Error>().then_some(USAGE),
    });
    ExitCode::from(code.unwrap_or(FAILED))
}

/// A failure in words for another program: the texts of its causes, and the hints.
pub(super) fn told(error: &anyhow::Error) -> (String, String) {
    let hints: Vec<String> = error.chain().filter_map(hint).map(|hint| plain(&hint)).collect();
    (texts(error).join(": "), hints.join("; "))
}

/// The text of an error and those of its causes.
fn texts(error: &anyhow::Error) -> Vec<String> {
    let (mut texts, mut last) = (vec![plain(&error.to_string())], error.to_string());
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Some errors contain the text of their cause.
        if !last.ends_with(&cause) {
            texts.push(plain(&cause));
        }
        last = cause;
    }
    texts
}

fn write_json(error: &anyhow::Error, err: &mut dyn Write) -> std::io::Result<()> {
    let (text, hint) = told(error);
    let status = error.chain().find_map(|cause| cause.downcast_ref::<Failure>()?.status);
    write_object(&text, &hint, status, err)
}

/// The one JSON object of a failure. A field without a value is left out.
fn write_object(error: &str, hint: &str, status: Option<u16>, err: &mut dyn Write) -> std::io::Result<()> {
    let mut object = json!({ "error": error });
    if !hint.is_empty() {
        object["hint"] = hint.into();
    }
    if let Some(status) = status {
        object["status"] = status.into();
    }
    writeln!(err, "{object:#}")?;
    err.flush()
}

fn write(error: &anyhow::Error, err: &mut dyn Write) -> std::io::Result<()> {
    for (text, before) in texts(error).iter().zip(std::iter::once("error").chain(std::iter::repeat("  because"))) {
        writeln!(err, "{before}: {text}")?;
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
    if let Some(error) = cause.downcast_ref::<apps::BadApp>() {
        return Some(error.hint.to_owned());
    }
    cause.downcast_ref::<client::Error>().and_then(client::Error::hint).map(str::to_owned)
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Whether a command line that cannot be read asks for JSON.
pub(crate) fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

/// Prints what clap reports: help and version to standard output, errors to standard error.
pub(crate) fn usage(error: &clap::Error, json: bool, out: &mut dyn Write, err: &mut dyn Write) -> ExitCode {
    let text = error.render().to_string();
    // A closed pipe is no failure here either.
    let _ = match (error.use_stderr(), json) {
        (true, true) => usage_object(error.kind(), &text, err),
        (true, false) => write!(err, "{text}").and_then(|()| err.flush()),
        (false, _) => write!(out, "{text}").and_then(|()| out.flush()),
    };
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
}

/// clap's text has paragraphs: the error, tips, the usage, and where to find help.
fn usage_object(kind: ErrorKind, text: &str, err: &mut dyn Write) -> std::io::Result<()> {
    if kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return write_object("a command is missing", "`--help` lists the commands", None, err);
    }
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.trim_start_matches("error: ").split("\n\n").map(line);
    let error = paragraphs.next().unwrap_or_default();
    let hints = paragraphs.filter(|text| !text.is_empty() && !text.starts_with("For more information"));
    write_object(&error, &hints.collect::<Vec<_>>().join("; "), None, err)
}

/// Text from elsewhere without control characters, which a terminal would obey, and without characters that hide or reorder text.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if telemetry::is_unseen(c) && c != '\n' { '\u{fffd}' } else { c }).collect()
}
