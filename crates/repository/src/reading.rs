//! The result of reading a method and a path in a format.

use crate::gem::account::Account;
use crate::scope::Scope;

/// A method and a path as a format reads them. `Q` is the format's question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<Q> {
    /// The cost class of the request.
    pub cost: Cost,
    /// The body of the request.
    pub brings: Brings,
    /// Whether the answer depends on the caller, so that a token is required in every repository.
    pub needs_token: bool,
    /// The subject of the request.
    pub about: About<Q>,
}

/// The subject of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About<Q> {
    /// The account of the caller.
    Account(Account),
    /// The content of the repository. A token needs the scope even if the path is invalid: a client that may not read a
    /// private repository must not learn which paths its format has.
    Content(Scope, Result<Q, Unread>),
}

/// Why a method and a path are not a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// The format has no such path.
    NoSuchPath,
    /// The path takes only these methods, in the form of `Allow`.
    NotAllowed(&'static str),
}

/// The cost class of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// A small answer.
    Page,
    /// A file.
    Download,
    /// A change.
    Upload,
    /// An index. It may have to be rendered first.
    Index,
    /// Accounts and owners.
    Account,
}

/// The kind of body of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brings {
    /// None that is read.
    Nothing,
    /// A form of a few bytes.
    Form,
    /// A file.
    File,
}

impl<Q> Reading<Q> {
    /// The same reading with another question.
    pub(crate) fn map<R>(self, question: impl FnOnce(Q) -> R) -> Reading<R> {
        let Self { cost, brings, needs_token, about } = self;
        let about = match about {
            About::Account(account) => About::Account(account),
            About::Content(scope, asked) => About::Content(scope, asked.map(question)),
        };
        Reading { cost, brings, needs_token, about }
    }
}
