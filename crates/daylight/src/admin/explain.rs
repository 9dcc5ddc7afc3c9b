//! `/api/v1/explain`: which answer a request would get, and why, in the form of an event.

use crate::access::Caller;
use crate::app::App;
use crate::error::Error;
use crate::route::{self, Content, Route};
use crate::status;
use format::percent::{Form, segment};
use http::Method;
use repository::{About, Ask, Foreseen, Parameters, Repository, Unread};
use serde_json::Value;
use std::sync::Arc;
use store::Stamp;
use telemetry::{Event, Reason};

/// What would be answered.
pub(super) struct Explanation {
    /// The event of the answer.
    pub(super) event: Event,
    /// Of a file that somebody took away: how it comes back.
    hint: Option<String>,
}

/// The keys of an event that only real requests have.
const OF_REQUESTS: [&str; 9] =
    ["id", "kind", "bytes_in", "bytes_out", "first_byte_ms", "duration_ms", "unaccounted_ms", "weight", "kept_because"];

pub(super) async fn show(app: &App, query: &str, caller: &Caller, event: &mut Event) -> Result<Value, Error> {
    let required = |name: &str| {
        let value = Form(query).value(name).filter(|value| !value.is_empty());
        value.ok_or_else(|| Error::Input(format!("`{name}` is missing")))
    };
    let (repository, path) = (required("repository")?, required("path")?);
    let (found, _) = app.repositories.find(&repository, event).await?;
    let (path, asked) = path.split_once('?').map_or((path.as_str(), ""), |(path, query)| (path, query));
    let path = found.explained_path(path);
    let path: Vec<String> = path.split('/').map(segment).collect();
    let as_of = Form(query).value("as_of").filter(|value| !value.is_empty());
    let as_of = as_of.map(|as_of| format!("@{}", segment(&as_of))).unwrap_or_default();
    let url = content(&format!("/repository/{}{as_of}/{}", segment(&repository), path.join("/")))?;
    let (repository, settings) = app.repositories.find(&url.repository, event).await?;
    let explanation = explain(app, &url, Some(asked), repository, settings, caller, event).await?;
    let explanation = explanation.ok_or_else(|| {
        Error::Input(format!("`{}` is not the path of a file or an index, so it is not explained", url.path))
    })?;
    Ok(to_json(&explanation))
}

/// Reads the URL of a GET below a repository.
pub(super) fn content(url: &str) -> Result<Content, Error> {
    match route::read(&Method::GET, url)? {
        Route::Content(content) => Ok(content),
        _ => Err(Error::NoSuchRoute(Event::text(url))),
    }
}

/// The answer to a GET of this URL with this query, if the repository were set like this. `None`: the answer depends on the query and
/// the caller has none, or it is about an account.
pub(super) async fn explain(
    app: &App,
    url: &Content,
    query: Option<&str>,
    repository: Arc<Repository>,
    settings: Stamp,
    caller: &Caller,
    event: &mut Event,
) -> Result<Option<Explanation>, Error> {
    let repository = match url.as_of {
        Some(as_of) => app.repositories.as_of(&repository, as_of, event).await?,
        None => repository,
    };
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
    let foreseen = app.repositories.foresee(&ask, caller.actor(), &mut explained).await;
    explained.tallies().for_each(|(op, tally)| event.add_all(op, tally));
    let (answer, hint) = match foreseen {
        Foreseen::Answer { answer, hint } => (answer.map_err(Error::from), hint),
        Foreseen::Depends(member) => {
            explained.reason = Some(Reason::UpstreamUnasked);
            explained.detail = format!("the upstream of `{member}` would be asked");
            return Ok(Some(Explanation { event: explained, hint: None }));
        }
    };
    let (status, outcome) = status::foreseen(answer.as_ref());
    (explained.status, explained.outcome) = (status.as_u16(), Some(outcome));
    if let Err(error) = answer {
        let more = std::mem::take(&mut explained.detail);
        // Of a file that somebody took away there are details already, of which the error is a part.
        let gone =
            [Reason::Withdrawn, Reason::Unkept, Reason::NoSuchFile, Reason::NoSuchVersion, Reason::NoSuchPackage];
        let known = hint.is_some() && gone.contains(&error.reason());
        let said = if known { String::new() } else { error.to_string() };
        let detail = [said, more].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
        (explained.reason, explained.detail) = (Some(error.reason()), detail.join("; "));
    }
    Ok(Some(Explanation { event: explained, hint }))
}

fn to_json(explanation: &Explanation) -> Value {
    let mut value = explanation.event.json();
    if let Some(hint) = &explanation.hint {
        value["hint"] = hint.as_str().into();
    }
    if let Value::Object(keys) = &mut value {
        OF_REQUESTS.iter().for_each(|key| drop(keys.remove(*key)));
    }
    value
}
