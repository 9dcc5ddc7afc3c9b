//! A question to a repository. The format of the repository reads it from the method and path of a request: once, and
//! without I/O.

use crate::format::Format;
use crate::gem;
use crate::maven;
use crate::parameters::Parameters;
use crate::reading::Reading;
use crate::repository::Repository;
use crate::tree;
use crate::waiters::Place;
use std::sync::Arc;
use store::{RepositoryKind, Stamp};
use telemetry::Subject;

/// One question to one repository, with everything that its answer depends on.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// The repository with the settings of the moment at which the question was read.
    pub repository: Arc<Repository>,
    /// The revision of the settings that `repository` was read from.
    pub settings: Stamp,
    /// The question.
    pub question: Question<'a>,
    /// Its parameters: a query, a form, and the URL that the client uses.
    pub parameters: Parameters<'a>,
    /// The request's place in its cost class and among the requests that wait for upstreams.
    pub place: Arc<Place>,
}

/// A question in the terms of a format. It borrows from the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// To a gem repository.
    Gem(gem::Question<'a>),
    /// To a repository that is a tree of files.
    Tree(tree::Question<'a>),
    /// A request for the settings file that a client needs to use the repository.
    ClientSettings,
}

impl Format {
    /// Reads a method, by its name, and a path below a repository of this format and kind. The path is decoded and does
    /// not begin with a slash; that of a folder ends with one. `Err` lists the methods that the path takes; a client needs no token to learn them.
    pub fn read<'a>(
        self,
        kind: RepositoryKind,
        method: &str,
        path: &'a str,
    ) -> Result<Reading<Question<'a>>, &'static str> {
        match self {
            Format::Gem => {
                let path = path.trim_end_matches('/');
                gem::question::read(method, path).map(|reading| reading.map(Question::Gem))
            }
            Format::Maven => {
                let read = maven::question::read(kind, method, path)?;
                Ok(read.map(|question| match question {
                    maven::Question::ClientSettings => Question::ClientSettings,
                    maven::Question::Tree(question) => Question::Tree(question),
                }))
            }
            Format::Raw => Ok(tree::question::read(self, kind, method, path)?.map(Question::Tree)),
        }
    }
}

impl Question<'_> {
    /// Whether the answer depends on a query or a form.
    pub fn has_parameters(&self) -> bool {
        match self {
            Question::Gem(question) => question.has_parameters(),
            Question::Tree(question) => question.has_query(),
            Question::ClientSettings => false,
        }
    }

    /// Whether the name of the requested file is that of a checksum.
    pub fn is_checksum(&self) -> bool {
        match self {
            Question::Tree(question) => question.is_checksum(),
            Question::Gem(_) | Question::ClientSettings => false,
        }
    }

    /// Whether the conditions of the request are decided with the change; `true` also for what changes nothing.
    pub fn takes_conditions(&self) -> bool {
        match self {
            Question::Gem(gem::Question::Yank | gem::Question::Unyank | gem::Question::Own(..)) => false,
            Question::Gem(_) | Question::Tree(_) | Question::ClientSettings => true,
        }
    }

    /// The name of the one published file that the question requests.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Question::Gem(question) => question.file(),
            Question::Tree(question) => question.file(),
            Question::ClientSettings => None,
        }
    }

    /// The name of the published file whose checksum or gemspec the question requests.
    pub(crate) fn derived_from(&self) -> Option<&str> {
        match self {
            Question::Gem(question) => question.gemspec_of(),
            Question::Tree(question) => question.checksum_of(),
            Question::ClientSettings => None,
        }
    }
}

impl Ask<'_> {
    /// The identity of the question, for the event and the page.
    pub fn subject(&self) -> Subject {
        let subject = match &self.question {
            Question::Gem(question) => question.subject(),
            Question::Tree(question) => question.subject(),
            Question::ClientSettings => tree::subject::subject("settings", ""),
        };
        Subject { repository: self.repository.record.name.as_str().into(), ..subject }
    }
}
