//! Who asks, as far as repositories care.

use crate::author::{Author, ChangeSource};
use crate::error::Error;
use store::{Batch, Change, Expect};
use telemetry::Millis;

/// Who asks, as far as repositories care.
#[derive(Debug, Clone, Copy)]
pub struct Actor<'a> {
    /// The name that changes are journaled under: the token's.
    pub name: &'a str,
    /// From where they ask.
    pub from: ChangeSource,
    /// The person or machine that the token belongs to.
    pub owner: &'a str,
    /// The one package that the token may change; `None`: any.
    pub only: Option<&'a str>,
    /// Whether the token may do everything.
    pub admin: bool,
}

impl Actor<'_> {
    /// Changes by this actor, to be made together.
    pub(crate) fn batch(self, at: Millis, expect: Vec<Expect>, changes: Vec<Change>) -> Batch {
        Author { by: self.name, from: self.from }.batch(at, expect, changes)
    }

    /// Refuses a change of another package than the one that the token is for.
    pub(crate) fn may_change(&self, package: &str) -> Result<(), Error> {
        match self.only.filter(|only| *only != package) {
            Some(only) => Err(Error::OnlyFor { token: self.name.to_owned(), package: only.to_owned() }),
            None => Ok(()),
        }
    }
}
