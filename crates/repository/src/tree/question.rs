//! A question to a repository that is a tree of files, read from a method and a path.

use crate::format::Format;
use crate::reading::{About, Brings, Cost, Reading, Unread};
use crate::scope::Scope;
use crate::tree::file::File;
use crate::tree::subject::subject;
use store::RepositoryKind;
use telemetry::Subject;

/// A question to a repository that is a tree of files. It borrows the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// Whether the repository exists.
    Root,
    /// The file at this path.
    Fetch(File<'a>),
    /// The list of the folder at this path.
    Folder(&'a str),
    /// Publish the upload at this path.
    Deploy(File<'a>),
    /// Delete the file at this path, or all files below it.
    Delete(File<'a>),
}

/// Reads a method and a path. `Err` has the methods that every path takes.
pub(crate) fn read<'a>(
    format: Format,
    kind: RepositoryKind,
    method: &str,
    path: &'a str,
) -> Result<Reading<Question<'a>>, &'static str> {
    let hosted = kind == RepositoryKind::Hosted;
    let got = matches!(method, "GET" | "HEAD");
    let folder = path.strip_suffix('/');
    let path = folder.unwrap_or(path);
    let (scope, cost) = match method {
        "GET" | "HEAD" if path.is_empty() => (Scope::Read, Cost::Page),
        "GET" | "HEAD" if folder.is_some() => (Scope::Read, Cost::Index),
        "GET" | "HEAD" => (Scope::Read, Cost::Download),
        "POST" | "PUT" => (Scope::Write, Cost::Upload),
        "DELETE" => (Scope::Delete, Cost::Upload),
        _ => return Err("GET, HEAD, POST, PUT, DELETE"),
    };
    let file = || match format.check_path(path) {
        Ok(()) => Ok(File::read(format, path)),
        Err(_) => Err(Unread::NoSuchPath),
    };
    let allow = if hosted { "GET, HEAD, PUT, DELETE" } else { "GET, HEAD" };
    let question = match method {
        _ if got && path.is_empty() => Ok(Question::Root),
        _ if got && folder.is_some() => file().map(|file| Question::Folder(file.path)),
        _ if got => file().map(Question::Fetch),
        "PUT" if hosted => file().map(Question::Deploy),
        "DELETE" if hosted => file().map(Question::Delete),
        _ => Err(Unread::NotAllowed(allow)),
    };
    let brings = if matches!(question, Ok(Question::Deploy(_))) { Brings::File } else { Brings::Nothing };
    Ok(Reading { cost, brings, needs_token: false, about: About::Content(scope, question) })
}

impl Question<'_> {
    /// Whether the name of the requested file is that of a checksum.
    pub(crate) fn is_checksum(&self) -> bool {
        self.file().is_some_and(|path| format::tree::checksum_of(path).is_some())
    }

    /// Whether the answer depends on a query.
    pub(crate) fn has_query(&self) -> bool {
        matches!(self, Question::Fetch(file) if file.has_query())
    }

    /// The path of the one published file that the question requests.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Question::Fetch(file) => Some(file.path),
            Question::Root | Question::Folder(_) | Question::Deploy(_) | Question::Delete(_) => None,
        }
    }

    /// The path of the file whose checksum the question requests.
    pub(crate) fn checksum_of(&self) -> Option<&str> {
        match self {
            Question::Fetch(file) => file.checksum().or_else(|| file.kept_checksum()).map(|(of, _)| of.path),
            Question::Root | Question::Folder(_) | Question::Deploy(_) | Question::Delete(_) => None,
        }
    }

    /// The identity of the question for events, without its repository.
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Question::Root => subject("root", ""),
            Question::Folder(path) => subject("folder", path),
            Question::Fetch(file) => file.subject("file"),
            Question::Deploy(file) => file.subject("deploy"),
            Question::Delete(file) => file.subject("delete"),
        }
    }
}
