//! What a request for something of a repository does, once the repository's format is known: the same path is a call of
//! the API in one format, and a file in another.

use super::{Content, not_allowed};
use crate::access::Scope;
use crate::error::Error;
use format::gem::call::{self, Call, Form};
use http::Method;
use repository::Format;
use telemetry::Event;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// It reads or changes content, which takes this scope.
    Content(Scope),
    /// It is about the account of whoever asks, as clients of gem repositories know it.
    Account(Account),
}

impl Operation {
    /// Whether a form of a few bytes comes with it in a repository of this format: whoever asks for keys, changes owners
    /// or yanks sends one.
    pub fn brings_form(self, format: Format) -> bool {
        match self {
            Operation::Account(account) => matches!(account.verb, AccountVerb::MakeKey | AccountVerb::WidenKey),
            Operation::Content(Scope::AddOwner | Scope::RemoveOwner | Scope::UpdateOwner) => true,
            Operation::Content(Scope::Delete) => format == Format::Gem,
            Operation::Content(Scope::Read | Scope::Write | Scope::Admin) => false,
        }
    }
}

/// What is asked of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// What to do.
    pub verb: AccountVerb,
    /// How the answer is to be written.
    pub form: Form,
}

/// What can be asked of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountVerb {
    /// Make a key.
    MakeKey,
    /// Make a key with all rights of who asks, as RubyGems before 3.2 does when it signs in.
    MakeFullKey,
    /// Add scopes to a key.
    WidenKey,
    /// Tell whose it is.
    Profile,
    /// Use a security device instead of a code.
    Device,
    /// Anything about calls to others.
    Hooks,
}

impl Content {
    /// What the method means for the path in a repository of this format. Only gems have calls: elsewhere every path is
    /// a file's, and takes the scopes of files.
    pub fn operation(&self, format: Format) -> Result<Operation, Error> {
        let call = call::read(&self.path).filter(|_| format == Format::Gem);
        if let Some((call, form)) = call
            && let Some(verb) = account(&self.method, call)?
        {
            // An account is what it is now, and to read one may make a key.
            if self.as_of.is_some() {
                return Err(Error::NoSuchRoute(Event::text(&format!("{}/{}", self.segment, self.path))));
            }
            return Ok(Operation::Account(Account { verb, form }));
        }
        let scope = match call.map(|(call, _)| call) {
            Some(Call::Owners(_)) => owner_scope(&self.method),
            _ => scope(&self.method),
        };
        scope.map(Operation::Content)
    }
}

/// What is asked of an account; `None` where the call is about content.
fn account(method: &Method, call: Call<'_>) -> Result<Option<AccountVerb>, Error> {
    Ok(Some(match (call, method.as_str()) {
        (Call::Key, "POST") => AccountVerb::MakeKey,
        (Call::Key, "GET") => AccountVerb::MakeFullKey,
        (Call::Key, "PUT" | "PATCH") => AccountVerb::WidenKey,
        (Call::Key, _) => return Err(not_allowed(method, "GET, POST, PUT, PATCH")),
        (Call::Profile, "GET" | "HEAD") => AccountVerb::Profile,
        (Call::Profile, _) => return Err(not_allowed(method, "GET, HEAD")),
        (Call::Device, _) => AccountVerb::Device,
        (Call::Hooks, _) => AccountVerb::Hooks,
        _ => return Ok(None),
    }))
}

fn owner_scope(method: &Method) -> Result<Scope, Error> {
    match *method {
        Method::GET | Method::HEAD => Ok(Scope::Read),
        Method::POST => Ok(Scope::AddOwner),
        Method::DELETE => Ok(Scope::RemoveOwner),
        Method::PATCH | Method::PUT => Ok(Scope::UpdateOwner),
        _ => Err(not_allowed(method, "GET, HEAD, POST, DELETE, PUT, PATCH")),
    }
}

fn scope(method: &Method) -> Result<Scope, Error> {
    match *method {
        Method::GET | Method::HEAD => Ok(Scope::Read),
        Method::POST | Method::PUT => Ok(Scope::Write),
        Method::DELETE => Ok(Scope::Delete),
        _ => Err(not_allowed(method, "GET, HEAD, POST, PUT, DELETE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{Route, read};
    use proptest::prelude::*;

    fn operation(method: Method, path: &str, format: Format) -> Result<Operation, Error> {
        match read(&method, &format!("/repository/{path}")) {
            Ok(Route::Content(content)) => content.operation(format),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_account_has_no_past() {
        let key = operation(Method::GET, "gems@seq-7/api/v1/api_key", Format::Gem);
        assert!(matches!(key, Err(Error::NoSuchRoute(_))), "{key:?}");
        let file = operation(Method::GET, "tools@seq-7/api/v1/api_key", Format::Raw);
        assert!(matches!(file, Ok(Operation::Content(Scope::Read))), "{file:?}");
    }

    #[test]
    fn the_scopes_of_owners_are_for_owners_of_gems() {
        let path = "x/api/v1/gems/lamp/owners";
        for (method, gem, file) in [
            (Method::POST, Scope::AddOwner, Some(Scope::Write)),
            (Method::DELETE, Scope::RemoveOwner, Some(Scope::Delete)),
            (Method::PUT, Scope::UpdateOwner, Some(Scope::Write)),
            (Method::PATCH, Scope::UpdateOwner, None),
        ] {
            let of = |format| operation(method.clone(), path, format).ok();
            assert_eq!(of(Format::Gem), Some(Operation::Content(gem)));
            assert_eq!(
                (of(Format::Raw), of(Format::Maven)),
                (file.map(Operation::Content), file.map(Operation::Content))
            );
        }
    }

    proptest! {
        #[test]
        fn no_path_of_another_format_is_a_call(path in "x/api/(v1|v2)/[a-z_./]{0,40}") {
            for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
                let read = read(&method, &format!("/repository/{path}"));
                if let Ok(Route::Content(content)) = read {
                    for format in [Format::Raw, Format::Maven] {
                        let scope = scope(&method).map(Operation::Content).ok();
                        prop_assert_eq!(content.operation(format).ok(), scope);
                    }
                }
            }
        }
    }
}
