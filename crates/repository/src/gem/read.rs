//! Reads a method and a path as a question to a gem repository.

use crate::client_settings::ClientSettings;
use crate::gem::account::{Account, AccountVerb};
use crate::gem::question::{OwnerVerb, Question as GemQuestion};
use crate::question::Question;
use crate::reading::{About, Brings, Cost, Reading, Unread};
use crate::scope::Scope;
use format::gem::call::{self, Call, Form};
use format::gem::path::{self, Question as Path};

const READ: &str = "GET, HEAD";

/// Reads a method and a path. `Err` lists the methods that the path takes; no token is needed to learn them.
pub(crate) fn read<'a>(method: &str, path: &'a str) -> Result<Reading<Question<'a>>, &'static str> {
    if let Some((call, form)) = call::read_account(path) {
        return Ok(of_account(Account { verb: AccountVerb::read(method, call)?, form }));
    }
    match call::read(path) {
        Some((call, form)) => Ok(of_call(method, call, form)?.map(Question::Gem)),
        None => of_path(method, path),
    }
}

fn of_account(account: Account) -> Reading<Question<'static>> {
    let brings = if account.verb.brings_form() { Brings::Form } else { Brings::Nothing };
    Reading { cost: Cost::Account, brings, needs_token: false, about: About::Account(account) }
}

/// A call of the API of gem servers.
fn of_call<'a>(method: &str, call: Call<'a>, form: Form) -> Result<Reading<GemQuestion<'a>>, &'static str> {
    let (scope, question) = match (call, method) {
        (_, "GET" | "HEAD") => (Scope::Read, Ok(GemQuestion::Call(call, form))),
        (Call::Owners(name), "POST") => (Scope::AddOwner, Ok(GemQuestion::Own(name, OwnerVerb::Add))),
        (Call::Owners(name), "DELETE") => (Scope::RemoveOwner, Ok(GemQuestion::Own(name, OwnerVerb::Remove))),
        (Call::Owners(name), "PATCH" | "PUT") => (Scope::UpdateOwner, Ok(GemQuestion::Own(name, OwnerVerb::Update))),
        (Call::Owners(_), _) => return Err("GET, HEAD, POST, DELETE, PUT, PATCH"),
        (_, "POST" | "PUT") => (Scope::Write, Err(Unread::NotAllowed(READ))),
        (_, "DELETE") => (Scope::Delete, Err(Unread::NotAllowed(READ))),
        _ => return Err(METHODS),
    };
    let cost = match scope {
        Scope::Read => Cost::Index,
        Scope::Write | Scope::Delete => Cost::Upload,
        Scope::AddOwner | Scope::RemoveOwner | Scope::UpdateOwner | Scope::Observe | Scope::Admin => Cost::Account,
    };
    let brings = if matches!(scope, Scope::Read | Scope::Write) { Brings::Nothing } else { Brings::Form };
    let needs_token = matches!(question, Ok(GemQuestion::Call(Call::OwnGems, _)));
    Ok(Reading { cost, brings, needs_token, about: About::Content(scope, question) })
}

/// The methods that some path of a gem repository takes.
const METHODS: &str = "GET, HEAD, POST, PUT, DELETE";

/// A file, an index, a push, a yank, or the undoing of one.
fn of_path<'a>(method: &str, path: &'a str) -> Result<Reading<Question<'a>>, &'static str> {
    let read = path::read(path);
    let (scope, cost, brings) = match method {
        "GET" | "HEAD" => (Scope::Read, cost(read), Brings::Nothing),
        // It needs the same scope as a yank.
        "PUT" if read == Some(Path::Unyank) => (Scope::Delete, Cost::Upload, Brings::Form),
        "POST" | "PUT" => (Scope::Write, Cost::Upload, Brings::Nothing),
        "DELETE" => (Scope::Delete, Cost::Upload, Brings::Form),
        _ => return Err(METHODS),
    };
    let gem = Question::Gem;
    let (allow, question) = match read {
        None => return Ok(reading(scope, cost, brings, Err(Unread::NoSuchPath))),
        Some(Path::Push) => ("POST", gem(GemQuestion::Push)),
        Some(Path::Yank) => ("DELETE", gem(GemQuestion::Yank)),
        Some(Path::Unyank) => ("PUT", gem(GemQuestion::Unyank)),
        Some(Path::Settings(file)) => (READ, Question::ClientSettings(ClientSettings::Gem(file))),
        Some(Path::Root) => (READ, Question::Root),
        Some(Path::Versions) => (READ, gem(GemQuestion::Versions)),
        Some(Path::Names) => (READ, gem(GemQuestion::Names)),
        Some(Path::Info(name)) => (READ, gem(GemQuestion::Info(name))),
        Some(Path::Specs(file)) => (READ, gem(GemQuestion::Specs(file))),
        Some(Path::Gem(full_name)) => (READ, gem(GemQuestion::Gem(full_name))),
        Some(Path::Gemspec(full_name)) => (READ, gem(GemQuestion::Gemspec(full_name))),
        Some(Path::Download(full_name)) => (READ, gem(GemQuestion::Download(full_name))),
        Some(Path::Attestations(full_name)) => (READ, gem(GemQuestion::Attestations(full_name))),
        Some(Path::Dependencies(form)) => (READ, gem(GemQuestion::Dependencies(form))),
    };
    let allowed = allow.split(", ").any(|one| one == method);
    let brings = if allowed && question == gem(GemQuestion::Push) { Brings::File } else { brings };
    Ok(reading(scope, cost, brings, if allowed { Ok(question) } else { Err(Unread::NotAllowed(allow)) }))
}

fn reading<'a>(
    scope: Scope,
    cost: Cost,
    brings: Brings,
    question: Result<Question<'a>, Unread>,
) -> Reading<Question<'a>> {
    Reading { cost, brings, needs_token: false, about: About::Content(scope, question) }
}

/// The cost class of reading a path.
fn cost(path: Option<Path<'_>>) -> Cost {
    match path {
        Some(Path::Versions | Path::Names | Path::Info(_) | Path::Specs(_)) => Cost::Index,
        Some(Path::Attestations(_) | Path::Dependencies(_)) => Cost::Index,
        Some(Path::Gem(_) | Path::Gemspec(_)) => Cost::Download,
        Some(Path::Root | Path::Download(_) | Path::Push | Path::Yank | Path::Unyank | Path::Settings(_)) | None => {
            Cost::Page
        }
    }
}

#[cfg(test)]
mod tests;
