//! The caller of a request, with the facts about it that repositories need.

use crate::author::{Author, ChangeSource};
use crate::error::{Error, Result};
use store::{Batch, Change, Expect};
use telemetry::Millis;

/// The caller of a request, with the facts about it that repositories need.
#[derive(Debug, Clone, Copy)]
pub struct Actor<'a> {
    /// The name of the token. The journal records it with each change.
    pub name: &'a str,
    /// The origin of the request.
    pub from: ChangeSource,
    /// The person or machine that owns the token.
    pub owner: &'a str,
    /// The only package that the token may change; `None`: any package.
    pub only: Option<&'a str>,
    /// Whether the token has the scope admin.
    pub admin: bool,
}

impl Actor<'_> {
    /// For questions whose answer does not depend on the caller.
    pub(crate) const NOBODY: Actor<'static> =
        Actor { name: "", from: ChangeSource::Server, owner: "", only: None, admin: false };

    /// A batch of changes by this caller. The store commits all of them or none.
    pub(crate) fn batch(self, at: Millis, expect: Vec<Expect>, changes: Vec<Change>) -> Batch {
        Author { by: self.name, from: self.from }.batch(at, expect, changes)
    }

    /// Refuses a change of a package that the token is not for.
    pub(crate) fn may_change(&self, package: &str) -> Result<()> {
        match self.only.filter(|only| *only != package) {
            Some(only) => Err(Error::OnlyFor { token: self.name.to_owned(), package: only.to_owned() }),
            None => Ok(()),
        }
    }
}
