//! A question to a repository that is a tree of files, read from a method and a path.

use crate::reading::{About, Brings, Cost, Reading, Unread};
use crate::scope::Scope;
use store::RepositoryKind;
use telemetry::Subject;

/// A question to a repository that is a tree of files. Borrows from the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// Is it there?
    Root,
    /// The file at this path.
    Fetch(&'a str),
    /// Keep the upload as the file at this path.
    Deploy(&'a str),
    /// Take away the file at this path, or all below it.
    Delete(&'a str),
}

/// Reads a method and a path. `Err` has the methods that every path takes.
pub(crate) fn read<'a>(
    kind: RepositoryKind,
    method: &str,
    path: &'a str,
) -> Result<Reading<Question<'a>>, &'static str> {
    let hosted = kind == RepositoryKind::Hosted;
    let got = matches!(method, "GET" | "HEAD");
    let (scope, cost) = match method {
        "GET" | "HEAD" if path.is_empty() => (Scope::Read, Cost::Page),
        "GET" | "HEAD" => (Scope::Read, Cost::Download),
        "POST" | "PUT" => (Scope::Write, Cost::Upload),
        "DELETE" => (Scope::Delete, Cost::Upload),
        _ => return Err("GET, HEAD, POST, PUT, DELETE"),
    };
    let checked = || format::tree::check(path).map_err(|_| Unread::NoSuchPath);
    let allow = if hosted { "GET, HEAD, PUT, DELETE" } else { "GET, HEAD" };
    let question = match method {
        _ if got && path.is_empty() => Ok(Question::Root),
        _ if got => checked().map(|()| Question::Fetch(path)),
        "PUT" if hosted => checked().map(|()| Question::Deploy(path)),
        "DELETE" if hosted => checked().map(|()| Question::Delete(path)),
        _ => Err(Unread::NotAllowed(allow)),
    };
    let brings = if matches!(question, Ok(Question::Deploy(_))) { Brings::File } else { Brings::Nothing };
    Ok(Reading { cost, brings, needs_token: false, about: About::Content(scope, question) })
}

impl<'a> Question<'a> {
    /// The path that is asked about.
    pub(crate) fn path(&self) -> Option<&'a str> {
        match self {
            Question::Root => None,
            Question::Fetch(path) | Question::Deploy(path) | Question::Delete(path) => Some(path),
        }
    }

    /// The path of the one published file that is asked for.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Question::Fetch(path) => Some(path),
            Question::Root | Question::Deploy(_) | Question::Delete(_) => None,
        }
    }

    /// The coded identity of the question, without its repository.
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Question::Root => subject("root", ""),
            Question::Fetch(path) => subject("file", path),
            Question::Deploy(path) => subject("deploy", path),
            Question::Delete(path) => subject("delete", path),
        }
    }
}

/// The subject of a path, without its repository.
pub(crate) fn subject(kind: &'static str, path: &str) -> Subject {
    Subject { repository: "".into(), package: path.into(), version: "".into(), kind }
}
