//! Reads a method and a path as a question to a repository that is a tree of files.

use crate::format::Format;
use crate::question::Question;
use crate::reading::{About, Brings, Cost, Reading, Unread};
use crate::scope::Scope;
use crate::tree::file::File;
use crate::tree::question::Question as TreeQuestion;
use store::RepositoryKind;

/// Reads a method and a path. `Err` has the methods that every path takes.
pub(crate) fn read<'a>(
    format: Format,
    kind: RepositoryKind,
    method: &str,
    path: &'a str,
) -> Result<Reading<Question<'a>>, &'static str> {
    let hosted = kind == RepositoryKind::Hosted;
    let got = matches!(method, "GET" | "HEAD");
    let folder = path.strip_suffix('/');
    let path = folder.unwrap_or(path);
    let (scope, cost) = match method {
        "GET" | "HEAD" if path.is_empty() => (Scope::Read, Cost::Page),
        "GET" | "HEAD" if folder.is_some() => (Scope::Read, Cost::Index),
        "GET" | "HEAD" => (Scope::Read, Cost::Download),
        "POST" | "PUT" => (Scope::Write, Cost::Upload),
        "DELETE" => (Scope::Delete, Cost::Upload),
        _ => return Err("GET, HEAD, POST, PUT, DELETE"),
    };
    let file = || match format.check_path(path) {
        Ok(()) => Ok(File::read(format, path)),
        Err(_) => Err(Unread::NoSuchPath),
    };
    let allow = if hosted { "GET, HEAD, PUT, DELETE" } else { "GET, HEAD" };
    let tree = Question::Tree;
    let question = match method {
        _ if got && path.is_empty() => Ok(Question::Root),
        _ if got && folder.is_some() => file().map(|file| tree(TreeQuestion::Folder(file.path))),
        _ if got => file().map(|file| tree(TreeQuestion::Fetch(file))),
        "PUT" if hosted => file().map(|file| tree(TreeQuestion::Deploy(file))),
        "DELETE" if hosted => file().map(|file| tree(TreeQuestion::Delete(file))),
        _ => Err(Unread::NotAllowed(allow)),
    };
    let brings =
        if matches!(question, Ok(Question::Tree(TreeQuestion::Deploy(_)))) { Brings::File } else { Brings::Nothing };
    Ok(Reading { cost, brings, needs_token: false, about: About::Content(scope, question) })
}
