//! `/api/v1/ask`: questions about stored events.

use crate::app::App;
use crate::app_front::served_apps::ServedApps;
use crate::error::{Error, Result};
use crate::settings_patch::format_names;
use bytes::Bytes;
use front::Request;
use insight::{Answer, Asked, Caller, NotAnswered, QUESTION_BYTES_MAX};
use repository::Scope;
use telemetry::{Event, Op, Tick, under_way};
use tokio::sync::oneshot;

/// Answers the question in the body of a request. The answer is JSON.
pub(super) async fn answer(app: &App, request: &mut Request, event: &mut Event) -> Result<Bytes> {
    // A question changes nothing.
    let caller = app.access.server(request, Scope::Observe, false, event).await?;
    let id = caller.token.map_or(0, |token| token.class);
    let body = request.upload.collect(QUESTION_BYTES_MAX, event).await?;
    let text = std::str::from_utf8(&body).map_err(|_| Error::Input("a question is a text in UTF-8".into()))?;
    let asked = Asked::read(text, app.clock.now())?;
    let (answered, answer) = oneshot::channel();
    let done = move |answer: Result<Answer, NotAnswered>| {
        // A large answer is written on the thread that made it, so that no request waits for that.
        let written = answer.map(|answer| Bytes::from(serde_json::to_vec(&answer).unwrap_or_default()));
        // The client may have left.
        let _ = answered.send(written);
    };
    let mut hints = Vec::new();
    if let Asked::Question(question) = &asked {
        let known = app.repositories.table(event).await?;
        let apps = app.apps.get().map(ServedApps::names).unwrap_or_default();
        let names = || known.by_name.keys().map(AsRef::as_ref).chain(apps.iter().map(String::as_str)).collect();
        hints = question.hints(names, &format_names());
        // A person asks about requests that have just ended.
        app.flush_sinks(event).await;
    }
    let (began, _waiting) = (Tick::now(), under_way(Op::AskWait));
    match asked {
        Asked::Question(question) => app.insight.asker().ask(*question, Caller { id, hints }, done),
        Asked::Next { handle, wait_ms } => app.insight.asker().more(&handle, id, wait_ms, done),
    }
    let answer = answer.await;
    event.add(Op::AskWait, Tick::now().since(began));
    Ok(answer.map_err(|_| Error::GivenUp)??)
}
