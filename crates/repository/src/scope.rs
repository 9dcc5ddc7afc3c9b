//! The scopes of tokens.

use std::fmt;
use std::str::FromStr;
use telemetry::Event;

/// A scope of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Reading private repositories.
    Read,
    /// Publishing.
    Write,
    /// Withdrawing: yanking and deleting.
    Delete,
    /// Adding owners of a package.
    AddOwner,
    /// Removing owners of a package.
    RemoveOwner,
    /// Changing the role of an owner of a package.
    UpdateOwner,
    /// Reading events, and the names of private repositories in metrics.
    Observe,
    /// All scopes, and the API.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: &'static [Scope] = &[
        Scope::Read,
        Scope::Write,
        Scope::Delete,
        Scope::AddOwner,
        Scope::RemoveOwner,
        Scope::UpdateOwner,
        Scope::Observe,
        Scope::Admin,
    ];

    /// Its name in commands, the API and journal rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Delete => "delete",
            Scope::AddOwner => "add_owner",
            Scope::RemoveOwner => "remove_owner",
            Scope::UpdateOwner => "update_owner",
            Scope::Observe => "observe",
            Scope::Admin => "admin",
        }
    }

    /// Whether `gem` knows it, so that a key of `gem signin` may have it.
    pub fn is_of_keys(self) -> bool {
        !matches!(self, Scope::Observe | Scope::Admin)
    }

    /// Their names, for people.
    pub fn list() -> String {
        Self::ALL.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|scope| scope.as_str() == text);
        found.copied().ok_or_else(|| format!("there is no scope `{}`; there are: {}", Event::text(text), Self::list()))
    }
}
