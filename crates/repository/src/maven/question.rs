//! A question to a repository of Maven, read from a method and a path.

use crate::reading::Reading;
use crate::tree;
use format::maven::path::{self, Kind, SETTINGS};
use store::RepositoryKind;
use telemetry::{Subject, Text};

/// A question to a repository of Maven. Borrows from the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// The settings that a client needs to use the repository.
    ClientSettings,
    /// A file of its tree, or a change of one.
    Tree(tree::Question<'a>),
}

/// Reads a method and a path. `Err` has the methods that every path takes.
pub(crate) fn read<'a>(
    kind: RepositoryKind,
    method: &str,
    path: &'a str,
) -> Result<Reading<Question<'a>>, &'static str> {
    let settings = path == SETTINGS && matches!(method, "GET" | "HEAD");
    let read = tree::question::read(kind, method, path)?;
    Ok(read.map(|question| if settings { Question::ClientSettings } else { Question::Tree(question) }))
}

impl Question<'_> {
    /// The path of the one published file that is asked for.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Question::ClientSettings => None,
            Question::Tree(question) => question.file(),
        }
    }

    /// The coded identity of the question, without its repository: `G:A` and the version, where the path is of one.
    pub(crate) fn subject(&self) -> Subject {
        let question = match self {
            Question::ClientSettings => return tree::question::subject("settings", ""),
            Question::Tree(question) => question,
        };
        let subject = question.subject();
        let Some(path) = question.path() else { return subject };
        match path::read(path).map(|read| (read.checksum, read.kind)) {
            Some((checksum, Kind::Artifact(artifact))) => {
                let kind = match (subject.kind, checksum) {
                    ("file", Some(_)) => "checksum",
                    ("file", None) if artifact.extension == "pom" => "pom",
                    ("file", None) => "artifact",
                    (change, _) => change,
                };
                let package: Text = [&artifact.group_id(), ":", artifact.artifact].concat().into();
                Subject { package, version: artifact.version.into(), kind, ..subject }
            }
            Some((_, Kind::Metadata(_))) if subject.kind == "file" => Subject { kind: "metadata", ..subject },
            _ => subject,
        }
    }
}
