//! A question to a repository that is a tree of files.

use crate::tree::file::File;
use crate::tree::subject::subject;
use telemetry::Subject;

/// A question to a repository that is a tree of files. It borrows the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// The file at this path.
    Fetch(File<'a>),
    /// The list of the folder at this path.
    Folder(&'a str),
    /// Publish the upload at this path.
    Deploy(File<'a>),
    /// Delete the file at this path, or all files below it.
    Delete(File<'a>),
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
            Question::Folder(_) | Question::Deploy(_) | Question::Delete(_) => None,
        }
    }

    /// The path of the file whose checksum the question requests.
    pub(crate) fn checksum_of(&self) -> Option<&str> {
        match self {
            Question::Fetch(file) => file.checksum().or_else(|| file.kept_checksum()).map(|(of, _)| of.path),
            Question::Folder(_) | Question::Deploy(_) | Question::Delete(_) => None,
        }
    }

    /// The identity of the question for events, without its repository.
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Question::Folder(path) => subject("folder", path),
            Question::Fetch(file) => file.subject("file"),
            Question::Deploy(file) => file.subject("deploy"),
            Question::Delete(file) => file.subject("delete"),
        }
    }
}
