//! Who asks, as far as repositories care.

use crate::error::Error;

/// Who asks, as far as repositories care.
#[derive(Debug, Clone, Copy)]
pub struct Actor<'a> {
    /// The name that changes are journaled under: the token's.
    pub name: &'a str,
    /// The person or machine that the token belongs to.
    pub owner: &'a str,
    /// The one package that the token may change; `None`: any.
    pub only: Option<&'a str>,
    /// Whether the token may do everything.
    pub admin: bool,
}

impl Actor<'_> {
    /// Refuses a change of another package than the one that the token is for.
    pub(crate) fn may_change(&self, package: &str) -> Result<(), Error> {
        match self.only.filter(|only| *only != package) {
            Some(only) => Err(Error::OnlyFor { token: self.name.to_owned(), package: only.to_owned() }),
            None => Ok(()),
        }
    }
}
