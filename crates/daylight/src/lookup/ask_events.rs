//! Asks a question about stored events on behalf of a page.

use crate::app::App;
use crate::error::{Error, Result};
use insight::{Answer, Caller, Question};
use telemetry::{Event, Op, Tick, under_way};
use tokio::sync::oneshot;

/// The answer. Questions share the limit of the token `caller`; those without a token, which is 0, share one.
pub(crate) async fn ask(app: &App, caller: u64, question: Question, event: &mut Event) -> Result<Answer> {
    let (answered, answer) = oneshot::channel();
    let (began, _waiting) = (Tick::now(), under_way(Op::AskWait));
    // The client may have left.
    let caller = Caller { id: caller, hints: Vec::new() };
    app.insight.asker().ask(question, caller, move |answer| drop(answered.send(answer)));
    let answer = answer.await;
    event.add(Op::AskWait, Tick::now().since(began));
    Ok(answer.map_err(|_| Error::GivenUp)??)
}
