//! From a path below a repository, and for a yank the form that comes with it, to a question.

mod program;

use crate::access::Who;
use crate::app::App;
use crate::config::FORM_BYTES;
use crate::error::Error;
use crate::percent::{Form, segment};
use crate::route::Content;
use format::gem::{
    self,
    path::{self, Question as Path},
};
use format::maven;
use front::Request;
use http::Method;
use repository::{Format, Question, Repository};
use std::collections::HashSet;
use store::RepositoryKind;
use telemetry::Event;

/// Most gems in one question for dependencies, as clients know it. Bundler asks for 50 at once.
const NAMES_MAX: usize = 200;

/// What the URL asks of the repository.
pub(crate) async fn read(
    app: &App,
    who: &Who,
    (url, repository): (&Content, &Repository),
    request: &mut Request,
    event: &mut Event,
) -> Result<Question, Error> {
    let nothing = || repository::Error::NoSuchPath { path: Event::text(&url.path), format: repository.format.as_str() };
    if let Some((call, form)) = gem::call::read(&url.path).filter(|_| repository.format == Format::Gem) {
        return Box::pin(program::read(app, who, (call, form), url, request, event)).await;
    }
    if repository.format.is_tree() {
        return tree(app, url, repository, nothing);
    }
    let path = path::read(&url.path).ok_or_else(nothing)?;
    let (allow, question) = match path {
        Path::Dependencies(form) => ("GET, HEAD", Question::Dependencies(names(request)?, form)),
        Path::Push => ("POST", Question::Push),
        Path::Yank if url.method == Method::DELETE => return Box::pin(yank(request, event)).await,
        Path::Yank => ("DELETE", Question::Root),
        path => ("GET, HEAD", gem(path).ok_or(Error::GivenUp)?),
    };
    if allow.split(", ").any(|method| method == url.method.as_str()) {
        Ok(question)
    } else {
        Err(Error::MethodNotAllowed { method: Event::text(url.method.as_str()), allow: allow.into() })
    }
}

/// What a URL asks for that a GET answers, whatever its query. `None`: a query decides, or it is no such call.
pub(crate) fn of_path(app: &App, url: &Content, repository: &Repository) -> Result<Option<Question>, Error> {
    let nothing = || repository::Error::NoSuchPath { path: Event::text(&url.path), format: repository.format.as_str() };
    if repository.format.is_tree() {
        return tree(app, url, repository, nothing).map(Some);
    }
    match gem::call::read(&url.path) {
        Some(_) => Ok(None),
        None => Ok(gem(path::read(&url.path).ok_or_else(nothing)?)),
    }
}

/// A file or an index of a repository of gems.
fn gem(path: Path<'_>) -> Option<Question> {
    Some(match path {
        Path::Root => Question::Root,
        Path::Versions => Question::Versions,
        Path::Names => Question::Names,
        Path::Info(name) => Question::Info(name.to_owned()),
        Path::Specs(file) => Question::Specs(file),
        Path::Gem(full_name) => Question::Gem(full_name.to_owned()),
        Path::Gemspec(full_name) => Question::Gemspec(full_name.to_owned()),
        Path::Download(full_name) => Question::Download(full_name.to_owned()),
        Path::Dependencies(_) | Path::Push | Path::Yank => return None,
    })
}

/// A file of a repository that is a tree of files.
fn tree(
    app: &App,
    url: &Content,
    repository: &Repository,
    nothing: impl Fn() -> repository::Error,
) -> Result<Question, Error> {
    let path = || format::tree::check(&url.path).map(|()| url.path.clone()).map_err(|_| nothing());
    let hosted = repository.record.kind == RepositoryKind::Hosted;
    let allow = if hosted { "GET, HEAD, PUT, DELETE" } else { "GET, HEAD" };
    match url.method {
        Method::GET | Method::HEAD if url.path.is_empty() => Ok(Question::Root),
        Method::GET | Method::HEAD if repository.format == Format::Maven && url.path == maven::path::SETTINGS => {
            Ok(Question::ClientSettings(format!("{}/repository/{}/", app.url, segment(&url.segment))))
        }
        Method::GET | Method::HEAD => Ok(Question::Fetch(path()?)),
        Method::PUT if hosted => Ok(Question::Deploy(path()?)),
        Method::DELETE if hosted => Ok(Question::Delete(path()?)),
        _ => Err(Error::MethodNotAllowed { method: Event::text(url.method.as_str()), allow: allow.into() }),
    }
}

/// The gems whose dependencies are asked for, each once. `None` where none are named.
fn names(request: &Request) -> Result<Option<Vec<String>>, Error> {
    let list = Form(request.query().unwrap_or_default()).value("gems").filter(|list| !list.is_empty());
    let Some(list) = list else { return Ok(None) };
    let mut names: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for name in list.split(',').filter(|name| !name.is_empty()) {
        let new = seen.insert(name);
        if seen.len() > NAMES_MAX {
            return Err(repository::Error::TooManyNames.into());
        }
        // What no gem can be called has no versions.
        if new && gem::name::check(name).is_ok() {
            names.push(name.to_owned());
        }
    }
    Ok(Some(names))
}

/// `gem yank` sends its parameters as a form in the body of a DELETE; others put them into the query.
async fn yank(request: &mut Request, event: &mut Event) -> Result<Question, Error> {
    let body = request.upload.collect(FORM_BYTES, event).await?;
    let query = request.query().unwrap_or_default().to_owned();
    let form = std::str::from_utf8(&body).map_err(|_| Error::Input("the form is not UTF-8".into()))?;
    let value = |key: &str| Form(form).value(key).or_else(|| Form(&query).value(key));
    let required = |key: &str| value(key).ok_or_else(|| Error::Input(format!("`{key}` is missing")));
    let (name, number) = (required("gem_name")?, required("version")?);
    let platform = value("platform").filter(|platform| !platform.is_empty()).unwrap_or_else(|| "ruby".into());
    // What no gem can be called is not looked for, and not written into an event.
    if gem::name::check(&name).is_err() {
        return Err(repository::Error::NoSuchGem.into());
    }
    // A gem for one Ruby alone is found by its content, and there is none here (RubyGems 4.1 names `ruby_abi`).
    let plain = value("ruby_abi").is_none_or(|abi| abi.is_empty());
    if !plain || gem::Version::published(&number).is_err() || gem::name::check_platform(&platform).is_err() {
        return Err(repository::Error::NoSuchVersion(Event::text(&number)).into());
    }
    Ok(Question::Yank { name, number, platform })
}
