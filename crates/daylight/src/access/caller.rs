//! Who makes a request.

use super::table::Token;
use repository::{Actor, Author, ChangeSource, Repository, Scope};
use std::net::IpAddr;
use std::sync::Arc;
use store::{RepositoryId, Stamp};

/// Who makes a request: the bearer of a token, or anyone.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Their token, if they sent a valid one.
    pub token: Option<Arc<Token>>,
    /// The part of their address that may be recorded.
    pub client: Option<IpAddr>,
    /// The revision of the tokens when the token was looked up.
    pub stamp: Stamp,
}

impl Caller {
    /// The caller as repositories know them.
    pub fn actor(&self) -> Actor<'_> {
        let token = self.token.as_deref();
        Actor {
            name: self.name(),
            from: ChangeSource::Client(self.client),
            owner: token.map_or("", Token::owner),
            only: token.and_then(|token| token.record.unit.as_deref()),
            admin: token.is_some_and(|token| token.scoped(Scope::Admin)),
        }
    }

    /// Whether they may read a repository.
    pub(crate) fn reads(&self, repository: &Repository) -> bool {
        !repository.record.private || self.allows(Scope::Read, Some(repository.id))
    }

    /// Whether they may observe the server.
    pub(crate) fn observes(&self) -> bool {
        self.allows(Scope::Observe, None)
    }

    fn allows(&self, scope: Scope, repository: Option<RepositoryId>) -> bool {
        self.token.as_ref().is_some_and(|token| token.allows(scope, repository))
    }

    /// The author of their changes.
    pub fn author(&self) -> Author<'_> {
        Author::of_client(self.name(), self.client)
    }

    /// The name under which the journal records their changes.
    pub fn name(&self) -> &str {
        self.token.as_ref().map_or("anyone", |token| &token.record.name)
    }
}
