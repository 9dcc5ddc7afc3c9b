//! The scopes of tokens.

use std::fmt;
use std::str::FromStr;
use telemetry::Event;

telemetry::closed_list! {
    /// A scope of a token.
    pub enum Scope {
        /// Reading private repositories.
        Read = "read",
        /// Publishing.
        Write = "write",
        /// Withdrawing: yanking and deleting.
        Delete = "delete",
        /// Adding owners of a package.
        AddOwner = "add_owner",
        /// Removing owners of a package.
        RemoveOwner = "remove_owner",
        /// Changing the role of an owner of a package.
        UpdateOwner = "update_owner",
        /// Reading events, and the names of private repositories in metrics.
        Observe = "observe",
        /// All scopes, and the API.
        Admin = "admin",
    }
}

impl Scope {
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
