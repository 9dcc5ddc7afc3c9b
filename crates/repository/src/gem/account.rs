//! Calls about the account of the person who asks, as clients of gem servers make them.

use crate::scope::Scope;
use format::gem::call::{Call, Form};

/// A call about an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// What to do.
    pub verb: AccountVerb,
    /// How the answer is written.
    pub form: Form,
}

/// What can be done with an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountVerb {
    /// Make a key.
    MakeKey,
    /// Make a key with all rights of the token that is shown, as RubyGems before 3.2 does when it signs in.
    MakeFullKey,
    /// Add scopes to a key.
    WidenKey,
    /// Tell whose it is.
    Profile,
    /// Use a security device instead of a code.
    Device,
    /// Manage webhooks.
    Hooks,
}

impl AccountVerb {
    /// What a method means for a call about an account; `Err` has the methods that the call takes. `None`: the call is about
    /// gems.
    pub(crate) fn read(method: &str, call: Call<'_>) -> Option<Result<Self, &'static str>> {
        Some(Ok(match (call, method) {
            (Call::Key, "POST") => AccountVerb::MakeKey,
            (Call::Key, "GET") => AccountVerb::MakeFullKey,
            (Call::Key, "PUT" | "PATCH") => AccountVerb::WidenKey,
            (Call::Key, _) => return Some(Err("GET, POST, PUT, PATCH")),
            (Call::Profile, "GET" | "HEAD") => AccountVerb::Profile,
            (Call::Profile, _) => return Some(Err("GET, HEAD")),
            (Call::Device, _) => AccountVerb::Device,
            (Call::Hooks, _) => AccountVerb::Hooks,
            _ => return None,
        }))
    }

    /// Whether a form of a few bytes comes with the call.
    pub(crate) fn brings_form(self) -> bool {
        matches!(self, AccountVerb::MakeKey | AccountVerb::WidenKey)
    }
}

/// The scope that `gem signin` calls so. A key never gets [`Scope::Admin`].
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
