//! A question to a gem repository, read from a method and a path.

use crate::gem::account::{Account, AccountVerb};
use crate::gem::protocol::Protocol;
use crate::reading::{About, Brings, Cost, Reading, Unread};
use crate::scope::Scope;
use format::gem::call::{self, Call, Form};
use format::gem::path::{self, Question as Path};
use format::gem::settings::SettingsFile;
use format::gem::{dependencies, specs};
use telemetry::Subject;

/// A question to a gem repository. It borrows from the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question<'a> {
    /// Whether the repository exists. RubyGems 3.2.3 to 3.5.18 request the root first.
    Root,
    /// The list of all gems with their versions.
    Versions,
    /// The list of names.
    Names,
    /// The versions of one gem with their dependencies.
    Info(&'a str),
    /// A file of the older index.
    Specs(specs::File),
    /// The gem of this full name.
    Gem(&'a str),
    /// The gemspec of the gem of this full name.
    Gemspec(&'a str),
    /// The gem of this full name, by the URL that clients used before 2010.
    Download(&'a str),
    /// The dependencies of the gems in the query.
    Dependencies(dependencies::Form),
    /// A question of a program, with the format of the answer.
    Call(Call<'a>, Form),
    /// Change the owners of the gem of this name, as the form says.
    Own(&'a str, OwnerVerb),
    /// Publish the upload.
    Push,
    /// Yank the version that the form names.
    Yank,
    /// Undo the yank of the version that the form names: `gem yank --undo` of RubyGems before 3.
    Unyank,
    /// A settings file for a client.
    Settings(SettingsFile),
}

/// A change of the owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerVerb {
    /// Add one.
    Add,
    /// Remove one.
    Remove,
    /// Change the role of one.
    Update,
}

const READ: &str = "GET, HEAD";

/// Reads a method and a path. `Err` lists the methods that the path takes; no token is needed to learn them.
pub(crate) fn read<'a>(method: &str, path: &'a str) -> Result<Reading<Question<'a>>, &'static str> {
    match call::read(path) {
        Some((call, form)) => match AccountVerb::read(method, call) {
            Some(verb) => Ok(of_account(Account { verb: verb?, form })),
            None => of_call(method, call, form),
        },
        None => of_path(method, path),
    }
}

fn of_account(account: Account) -> Reading<Question<'static>> {
    let brings = if account.verb.brings_form() { Brings::Form } else { Brings::Nothing };
    Reading { cost: Cost::Account, brings, needs_token: false, about: About::Account(account) }
}

/// A call of the API of gem servers.
fn of_call<'a>(method: &str, call: Call<'a>, form: Form) -> Result<Reading<Question<'a>>, &'static str> {
    let (scope, question) = match (call, method) {
        (_, "GET" | "HEAD") => (Scope::Read, Ok(Question::Call(call, form))),
        (Call::Owners(name), "POST") => (Scope::AddOwner, Ok(Question::Own(name, OwnerVerb::Add))),
        (Call::Owners(name), "DELETE") => (Scope::RemoveOwner, Ok(Question::Own(name, OwnerVerb::Remove))),
        (Call::Owners(name), "PATCH" | "PUT") => (Scope::UpdateOwner, Ok(Question::Own(name, OwnerVerb::Update))),
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
    let needs_token = matches!(question, Ok(Question::Call(Call::OwnGems, _)));
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
    let (allow, question) = match read {
        None => return Ok(reading(scope, cost, brings, Err(Unread::NoSuchPath))),
        Some(Path::Push) => ("POST", Question::Push),
        Some(Path::Yank) => ("DELETE", Question::Yank),
        Some(Path::Unyank) => ("PUT", Question::Unyank),
        Some(Path::Settings(file)) => (READ, Question::Settings(file)),
        Some(Path::Root) => (READ, Question::Root),
        Some(Path::Versions) => (READ, Question::Versions),
        Some(Path::Names) => (READ, Question::Names),
        Some(Path::Info(name)) => (READ, Question::Info(name)),
        Some(Path::Specs(file)) => (READ, Question::Specs(file)),
        Some(Path::Gem(full_name)) => (READ, Question::Gem(full_name)),
        Some(Path::Gemspec(full_name)) => (READ, Question::Gemspec(full_name)),
        Some(Path::Download(full_name)) => (READ, Question::Download(full_name)),
        Some(Path::Dependencies(form)) => (READ, Question::Dependencies(form)),
    };
    let allowed = allow.split(", ").any(|one| one == method);
    let brings = if allowed && question == Question::Push { Brings::File } else { brings };
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
        Some(Path::Versions | Path::Names | Path::Info(_) | Path::Specs(_) | Path::Dependencies(_)) => Cost::Index,
        Some(Path::Gem(_) | Path::Gemspec(_)) => Cost::Download,
        Some(Path::Root | Path::Download(_) | Path::Push | Path::Yank | Path::Unyank | Path::Settings(_)) | None => {
            Cost::Page
        }
    }
}

impl Question<'_> {
    /// Whether the answer depends on a query or a form.
    pub(crate) fn has_parameters(&self) -> bool {
        match self {
            Question::Dependencies(_) | Question::Call(..) | Question::Own(..) => true,
            Question::Yank | Question::Unyank => true,
            Question::Root | Question::Versions | Question::Names | Question::Info(_) | Question::Specs(_) => false,
            Question::Gem(_) | Question::Gemspec(_) | Question::Download(_) | Question::Push => false,
            Question::Settings(_) => false,
        }
    }

    /// The index protocols that the question belongs to. It is answered while one of them is on. Empty: it is always answered.
    pub(crate) fn protocols(&self) -> &'static [Protocol] {
        match self {
            Question::Versions | Question::Names | Question::Info(_) => &[Protocol::CompactIndex],
            Question::Dependencies(_) => &[Protocol::Dependencies],
            Question::Specs(_) => &[Protocol::FullIndex],
            // `gem install` reads it, whichever index it chose the version from.
            Question::Gemspec(_) => Protocol::ALL,
            Question::Call(..) | Question::Own(..) | Question::Root | Question::Gem(_) | Question::Download(_) => &[],
            Question::Push | Question::Yank | Question::Unyank | Question::Settings(_) => &[],
        }
    }

    /// The name of the one published file that the question requests.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Question::Gem(full_name) => Some(full_name),
            _ => None,
        }
    }

    /// The name of the version whose gemspec the question requests.
    pub(crate) fn gemspec_of(&self) -> Option<&str> {
        match self {
            Question::Gemspec(full_name) => Some(full_name),
            _ => None,
        }
    }

    /// The identity of the question for events, without its repository.
    pub(crate) fn subject(&self) -> Subject {
        let (kind, package, version) = match *self {
            Question::Root => ("root", "", ""),
            Question::Versions => ("versions", "", ""),
            Question::Names => ("names", "", ""),
            Question::Info(name) => ("info", name, ""),
            Question::Specs(file) => (file.name(), "", ""),
            Question::Gem(full_name) | Question::Download(full_name) => ("gem", "", full_name),
            Question::Gemspec(full_name) => ("gemspec", "", full_name),
            Question::Dependencies(_) => ("dependencies", "", ""),
            Question::Call(call, _) => ("describe", call.gem().unwrap_or_default(), ""),
            Question::Own(name, _) => ("owners", name, ""),
            Question::Push => ("push", "", ""),
            Question::Yank => ("yank", "", ""),
            Question::Unyank => ("unyank", "", ""),
            Question::Settings(_) => ("settings", "", ""),
        };
        Subject { repository: "".into(), package: package.into(), version: version.into(), kind }
    }
}

#[cfg(test)]
mod tests;
