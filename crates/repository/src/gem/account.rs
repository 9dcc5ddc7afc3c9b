//! Calls about the account of the caller, as clients of gem servers make them.

use crate::scope::Scope;
use format::gem::{AccountCall, Form};

/// A call about an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// The action.
    pub verb: AccountVerb,
    /// The format of the answer.
    pub form: Form,
}

/// An action on an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountVerb {
    /// Create a key.
    MakeKey,
    /// Create a key with all scopes of the token. RubyGems before 3.2 does this when it signs in.
    MakeFullKey,
    /// Add scopes to a key.
    WidenKey,
    /// Describe the owner of the token.
    Profile,
    /// Use a security device instead of a one-time password.
    Device,
    /// Manage webhooks.
    Hooks,
}

impl AccountVerb {
    /// Reads a method of a call; `Err` has the methods that the call takes.
    pub(crate) fn read(method: &str, call: AccountCall) -> Result<Self, &'static str> {
        Ok(match (call, method) {
            (AccountCall::Key, "POST") => AccountVerb::MakeKey,
            (AccountCall::Key, "GET") => AccountVerb::MakeFullKey,
            (AccountCall::Key, "PUT" | "PATCH") => AccountVerb::WidenKey,
            (AccountCall::Key, _) => return Err("GET, POST, PUT, PATCH"),
            (AccountCall::Profile, "GET" | "HEAD") => AccountVerb::Profile,
            (AccountCall::Profile, _) => return Err("GET, HEAD"),
            (AccountCall::Device, _) => AccountVerb::Device,
            (AccountCall::Hooks, _) => AccountVerb::Hooks,
        })
    }

    /// Whether the call has a small form as its body.
    pub(crate) fn brings_form(self) -> bool {
        matches!(self, AccountVerb::MakeKey | AccountVerb::WidenKey)
    }
}

/// The scope with this name in `gem signin`. A key never gets [`Scope::Admin`].
pub fn scope_of_key(name: &str) -> Option<Scope> {
    match name {
        "index_rubygems" => Some(Scope::Read),
        "push_rubygem" => Some(Scope::Write),
        "yank_rubygem" => Some(Scope::Delete),
        "add_owner" => Some(Scope::AddOwner),
        "remove_owner" => Some(Scope::RemoveOwner),
        "update_owner" => Some(Scope::UpdateOwner),
        _ => None,
    }
}
