//! What a format reads in the method and the path of a request.

use crate::gem::account::Account;
use crate::scope::Scope;

/// How a format reads a method and a path. `Q` is its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<Q> {
    /// What the request costs, roughly: it takes a place in that class.
    pub cost: Cost,
    /// What arrives with the request.
    pub brings: Brings,
    /// Whether the answer is about the person who asks, so that a token must be shown whatever the repository allows.
    pub needs_token: bool,
    /// What the request is about.
    pub about: About<Q>,
}

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About<Q> {
    /// The account of the person who asks.
    Account(Account),
    /// Content of the repository. A token needs the scope also where the URL asks for nothing: a client that may not read a
    /// private repository does not learn which paths its format has.
    Content(Scope, Result<Q, Unread>),
}

/// Why a method and a path are no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// The format has no such path.
    NoSuchPath,
    /// The path takes other methods: these, as `Allow` lists them.
    NotAllowed(&'static str),
}

/// The class of requests by what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// A small answer.
    Page,
    /// A file.
    Download,
    /// A change.
    Upload,
    /// An index, which may have to be made first.
    Index,
    /// Accounts and owners.
    Account,
}

/// What arrives with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brings {
    /// Nothing that is read.
    Nothing,
    /// A form of a few bytes.
    Form,
    /// A file.
    File,
}

impl<Q> Reading<Q> {
    /// The same with another question in place of this one.
    pub(crate) fn map<R>(self, question: impl FnOnce(Q) -> R) -> Reading<R> {
        let Self { cost, brings, needs_token, about } = self;
        let about = match about {
            About::Account(account) => About::Account(account),
            About::Content(scope, asked) => About::Content(scope, asked.map(question)),
        };
        Reading { cost, brings, needs_token, about }
    }
}
