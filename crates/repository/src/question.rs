//! A question to a repository. The format of the repository reads it from the method and path of a request: once, and
//! without I/O.

use crate::client_settings::ClientSettings;
use crate::gem;
use crate::parameters::Parameters;
use crate::repository::Repository;
use crate::tree;
use crate::waiters::Place;
use std::sync::Arc;
use store::Stamp;
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
    /// Whether the repository exists. RubyGems 3.2.3 to 3.5.18 request the root first.
    Root,
    /// A settings file for a client.
    ClientSettings(ClientSettings),
    /// To a gem repository.
    Gem(gem::Question<'a>),
    /// To a repository that is a tree of files.
    Tree(tree::Question<'a>),
}

impl Question<'_> {
    /// Any question, for work that does not depend on one.
    pub(crate) const ANY: Self = Question::Root;

    /// Whether the answer depends on a query or a form.
    pub fn has_parameters(&self) -> bool {
        match self {
            Question::Gem(question) => question.has_parameters(),
            Question::Tree(question) => question.has_query(),
            Question::Root | Question::ClientSettings(_) => false,
        }
    }

    /// Whether the name of the requested file is that of a checksum.
    pub fn is_checksum(&self) -> bool {
        match self {
            Question::Tree(question) => question.is_checksum(),
            Question::Root | Question::ClientSettings(_) | Question::Gem(_) => false,
        }
    }

    /// Whether the conditions of the request are decided with the change; `true` also for what changes nothing.
    pub fn takes_conditions(&self) -> bool {
        match self {
            Question::Gem(gem::Question::Yank | gem::Question::Unyank | gem::Question::Own(..)) => false,
            Question::Gem(_) | Question::Tree(_) | Question::Root | Question::ClientSettings(_) => true,
        }
    }

    /// The name of the one published file that the question requests.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Question::Gem(question) => question.file(),
            Question::Tree(question) => question.file(),
            Question::Root | Question::ClientSettings(_) => None,
        }
    }

    /// The name of the published file whose checksum or gemspec the question requests.
    pub(crate) fn derived_from(&self) -> Option<&str> {
        match self {
            Question::Gem(question) => question.gemspec_of(),
            Question::Tree(question) => question.checksum_of(),
            Question::Root | Question::ClientSettings(_) => None,
        }
    }
}

impl Ask<'_> {
    /// The identity of the question, for the event and the page.
    pub fn subject(&self) -> Subject {
        let subject = match &self.question {
            Question::Gem(question) => question.subject(),
            Question::Tree(question) => question.subject(),
            Question::Root => tree::subject::subject("root", ""),
            Question::ClientSettings(_) => tree::subject::subject("settings", ""),
        };
        Subject { repository: self.repository.record.name.as_str().into(), ..subject }
    }
}
