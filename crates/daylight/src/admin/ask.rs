//! `/api/v1/ask`: questions about stored events.

use crate::app::App;
use crate::app_front::served_apps::ServedApps;
use crate::error::{Error, Result};
use crate::nodes::ask::Asking;
use crate::nodes::{self, Others};
use crate::settings_patch::format_names;
use bytes::Bytes;
use front::Request;
use insight::{Answer, Asked, Caller, NotAnswered, QUESTION_BYTES_MAX};
use repository::Scope;
use telemetry::{Event, Op, Tick, under_way};
use tokio::sync::oneshot;

/// Answers the question in the body of a request. The answer is JSON.
pub(super) async fn answer(app: &App, request: &mut Request, event: &mut Event) -> Result<Bytes> {
    if nodes::is_of_node(app, request) {
        return nodes::ask::of_node(app, request, event).await;
    }
    // A question changes nothing.
    let caller = app.access.server(request, Scope::Observe, false, event).await?;
    let id = caller.token.map_or(0, |token| token.class);
    let others = Others::of(app, request)?;
    let body = request.upload.collect(QUESTION_BYTES_MAX, event).await?;
    let text = std::str::from_utf8(&body).map_err(|_| Error::Input("a question is a text in UTF-8".into()))?;
    let asked = Asked::read(text, app.clock.now())?;
    let mut hints = Vec::new();
    if let Asked::Question(question) = &asked {
        let known = app.repositories.table(event).await?;
        let apps = app.apps.get().map(ServedApps::names).unwrap_or_default();
        let names = || known.by_name.keys().map(AsRef::as_ref).chain(apps.iter().map(String::as_str)).collect();
        hints = question.hints(names, &format_names());
        // A person asks about requests that have just ended.
        app.flush_sinks(event).await;
    }
    let caller = Caller { id, hints };
    let Some(others) = others else {
        // A large answer is written on the thread that made it, so that no request waits for that.
        let write = |answer: Answer| Bytes::from(serde_json::to_vec(&answer).unwrap_or_default());
        return here(app, asked, caller, write, event).await;
    };
    let (asking, wait_ms) = match &asked {
        Asked::Question(question) => (question.compare.is_none().then(|| Asking::new(question)), None),
        Asked::Next { handle, wait_ms } => (Asking::read(handle), Some(*wait_ms)),
    };
    match asking {
        Some(asking) => nodes::ask::of_all(app, &others, asking, wait_ms, caller, event).await,
        None => here(app, asked, caller, move |answer| nodes::ask::of_one(&others, answer), event).await,
    }
}

/// The answer of this node alone, which `write` writes on the thread that made it.
async fn here(
    app: &App,
    asked: Asked,
    caller: Caller,
    write: impl FnOnce(Answer) -> Bytes + Send + 'static,
    event: &mut Event,
) -> Result<Bytes> {
    let (answered, answer) = oneshot::channel();
    // The client may have left.
    let done = move |answer: Result<Answer, NotAnswered>| drop(answered.send(answer.map(write)));
    let (began, _waiting) = (Tick::now(), under_way(Op::AskWait));
    match asked {
        Asked::Question(question) => app.insight.asker().ask(*question, caller, done),
        Asked::Next { handle, wait_ms } => app.insight.asker().more(&handle, caller.id, wait_ms, done),
    }
    let answer = answer.await;
    event.add(Op::AskWait, Tick::now().since(began));
    Ok(answer.map_err(|_| Error::GivenUp)??)
}
