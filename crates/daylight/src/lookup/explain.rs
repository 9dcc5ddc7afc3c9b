//! Which answer a request would get, and why, in the form of an event.

use super::explained::{self, Explanation, Reader};
use crate::access::Caller;
use crate::app::App;
use crate::class;
use crate::error::{Error, Result};
use crate::health::upstream_trouble;
use crate::reply::status;
use crate::route::{self, Content, Route};
use format::percent::{Form, segment};
use front::Request;
use http::Method;
use insight::Finding;
use repository::{About, Ask, Cost, Foreseen, Parameters, Repository, Scope, Unread};
use std::sync::Arc;
use store::Stamp;
use telemetry::{Event, Reason};
use web::{ExplainForm, RelatedFinding};

/// Reads the query of a request.
pub(crate) fn form(query: &str) -> ExplainForm {
    let text = |name| Form(query).value(name).unwrap_or_default();
    let (repository, path, as_of) = (text("repository"), text("path"), text("as_of"));
    // URLs have the moment beside the name.
    match repository.split_once('@') {
        Some((name, moment)) if as_of.is_empty() => {
            ExplainForm { repository: name.to_owned(), path, as_of: moment.to_owned() }
        }
        _ => ExplainForm { repository, path, as_of },
    }
}

/// The repository, with its moment, and the path below it that a URL or the path of a URL names.
pub(crate) fn below_repository(url: &str) -> Option<(&str, &str)> {
    let is_url = url.starts_with("http://") || url.starts_with("https://");
    let below = url.strip_prefix("/repository/");
    below.or_else(|| url.split_once("/repository/").filter(|_| is_url).map(|(_, below)| below))?.split_once('/')
}

/// The value of the API's answer and of the page. Readers of the repository get it, and observers of the server.
pub(crate) async fn value(
    app: &App,
    form: &ExplainForm,
    reader: &Reader,
    request: &Request,
    event: &mut Event,
) -> Result<web::Explanation> {
    let found = match reader.observes() {
        true => app.repositories.find(&form.repository, event).await?.0,
        false => {
            let found = app.access.repository(&app.repositories, &form.repository, request, event).await?.0;
            app.access.content(request, Scope::Read, &found, event).await?;
            found
        }
    };
    let (path, query) = form.path.split_once('?').unwrap_or((&form.path, ""));
    let path = match below_repository(path) {
        Some((name, path)) if name.split('@').next() == Some(form.repository.as_str()) => path,
        Some((other, _)) => {
            let (other, asked) = (Event::text(other), &form.repository);
            return Err(Error::Input(format!("this path is of the repository `{other}`, not of `{asked}`")));
        }
        None => path,
    };
    let path: Vec<String> = found.explained_path(path).split('/').map(segment).collect();
    let as_of = match &*form.as_of {
        "" => String::new(),
        as_of => format!("@{}", segment(as_of)),
    };
    let url = content(&format!("/repository/{}{as_of}/{}", segment(&form.repository), path.join("/")))?;
    let (repository, settings) = app.repositories.find(&url.repository, event).await?;
    // An index costs as much here as in an answer.
    let cost = url.read(repository.format, repository.record.kind)?.cost;
    let _place = match cost {
        Cost::Index => Some(app.enter(class::of_cost(cost), request, event).await?),
        _ => None,
    };
    let explanation = explain(app, &url, Some(query), repository.clone(), settings, &reader.caller, event).await?;
    let explanation = explanation.ok_or_else(|| {
        Error::Input(format!("`{}` is not the path of a file or an index, so it is not explained", url.path))
    })?;
    let table = app.repositories.table(event).await?;
    let mut value = explained::value(explanation, reader, &repository, &table);
    if reader.observes() {
        let leaves = repository.leaves.iter().map(|leaf| leaf.record.name.as_str());
        let names: Vec<&str> = leaves.chain([repository.record.name.as_str()]).collect();
        let related = |one: Finding| RelatedFinding { id: one.id, sentence: one.sentence };
        value.findings = app.findings.about(&names).into_iter().map(related).collect();
    }
    Ok(value)
}

/// Reads the URL of a GET below a repository.
pub(crate) fn content(url: &str) -> Result<Content> {
    match route::read(&Method::GET, url)? {
        Route::Content(content) => Ok(content),
        _ => Err(Error::NoSuchRoute(Event::text(url))),
    }
}

/// The answer to a GET of this URL with this query, if the repository were set like this. `None`: the answer depends on the query and
/// the caller has none, or it is about an account.
pub(crate) async fn explain(
    app: &App,
    url: &Content,
    query: Option<&str>,
    repository: Arc<Repository>,
    settings: Stamp,
    caller: &Caller,
    event: &mut Event,
) -> Result<Option<Explanation>> {
    let repository = match url.as_of {
        Some(as_of) => app.repositories.foreseen_as_of(&repository, as_of, event).await?,
        None => repository,
    };
    let mut url = url.clone();
    let kept = url.keep_query(&repository, query);
    let question = match url.read(repository.format, repository.record.kind)?.about {
        About::Account(_) | About::Content(_, Err(Unread::NotAllowed(_))) => return Ok(None),
        About::Content(_, Ok(question)) if question.has_parameters() && query.is_none() => return Ok(None),
        About::Content(_, question) => question.map_err(|why| url.unread(why, &repository))?,
    };
    let query = query.unwrap_or_default();
    let parameters = Parameters { query, server: Some(&app.urls), segment: &url.segment, ..Parameters::default() };
    let ask = Ask { repository, settings, question, parameters, place: Arc::default() };
    let mut explained = *Event::job("GET", app.clock.now());
    (explained.subject, explained.path) = (ask.subject(), format!("/repository/{}/{}", url.segment, url.path));
    let foreseen = match kept {
        Ok(()) => app.repositories.foresee(&ask, caller.actor(), &mut explained).await,
        Err(error) => Foreseen::Answer { answer: Box::new(Err(error)), hint: None },
    };
    explained.tallies().for_each(|(op, tally)| event.add_all(op, tally));
    let (answer, hint) = match foreseen {
        Foreseen::Answer { answer, hint } => (answer.map_err(Error::from), hint),
        Foreseen::Depends(member) => {
            explained.reason = Some(Reason::UpstreamUnasked);
            let all = (true, |_: &Repository| true);
            let trouble = upstream_trouble::describe(app, &ask.repository, Some(&member), all, event).await?;
            let more = trouble.as_ref().map(|trouble| format!("; {trouble}")).unwrap_or_default();
            let known = Some(std::mem::take(&mut explained.detail)).filter(|text| !text.is_empty());
            let known = known.map(|text| format!("; {text}")).unwrap_or_default();
            explained.detail = format!("the upstream of `{member}` would be asked{more}{known}");
            let (depends, fails) = (Some(member), trouble.is_some());
            return Ok(Some(Explanation { event: explained, removal_hint: None, error: None, depends, fails }));
        }
    };
    let (status, outcome) = status::foreseen(answer.as_ref());
    (explained.status, explained.outcome) = (status.as_u16(), Some(outcome));
    if let Err(error) = &answer {
        let more = std::mem::take(&mut explained.detail);
        // Of a file that somebody took away there are details already, of which the error is a part.
        let gone =
            [Reason::Withdrawn, Reason::Unkept, Reason::NoSuchFile, Reason::NoSuchVersion, Reason::NoSuchPackage];
        let known = hint.is_some() && gone.contains(&error.reason());
        let said = if known { String::new() } else { error.to_string() };
        let detail = [said, more].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
        (explained.reason, explained.detail) = (Some(error.reason()), detail.join("; "));
    }
    Ok(Some(Explanation { event: explained, removal_hint: hint, error: answer.err(), depends: None, fails: false }))
}
