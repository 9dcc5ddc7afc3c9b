//! `/ask?q=`: a question about events with its answer, as a table.

use super::{observer, shell};
use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::ask_events::ask;
use crate::lookup::cells::Unit;
use format::percent::Form;
use front::{Reply, Request};
use insight::{Answer, Asked, QUESTION_BYTES_MAX, Question};
use serde_json::{Value, json};
use telemetry::Event;
use web::{AnsweredQuestion, QuestionPage};

/// The page. A mistake in the question is shown above its answer, which is empty.
pub(super) async fn page(app: &App, request: &Request, event: &mut Event) -> Result<Reply> {
    let caller = observer::only(app, request, event).await?;
    let query = request.query().unwrap_or_default();
    let asked: String = Form(query).value("q").unwrap_or_default();
    if asked.len() as u64 > QUESTION_BYTES_MAX {
        return Err(Error::Input(format!("a question has at most {QUESTION_BYTES_MAX} bytes")));
    }
    let answered = if asked.is_empty() {
        Ok(None)
    } else {
        app.flush_sinks(event).await;
        let token = caller.token.as_ref().map_or(0, |token| token.class);
        answered(app, &asked, token, event).await.map(Some)
    };
    let (answered, mistake) = match answered {
        Ok(answered) => (answered, None),
        Err(error @ (Error::Question(_) | Error::NotAnswered(_))) => {
            let hint = error.hint(None).map(|hint| format!(": {hint}")).unwrap_or_default();
            (None, Some(format!("{error}{hint}")))
        }
        Err(error) => return Err(error),
    };
    let shell = shell::of(app, "Ask about events", request, event).await?;
    let (answered, mistake) = (answered.as_ref(), mistake.as_deref());
    shell::page(&QuestionPage { shell: &shell, asked: &asked, answered, mistake }, event).await
}

async fn answered(app: &App, asked: &str, token: u64, event: &mut Event) -> Result<AnsweredQuestion> {
    let Asked::Question(question) = Asked::read(asked, app.clock.now())? else {
        return Err(Error::Input("a page has no more of a partial answer".to_owned()));
    };
    let text = question.to_string();
    let answer = ask(app, token, Question { compare: None, ..*question }, event).await?;
    Ok(shown(text, &answer))
}

fn shown(text: String, answer: &Answer) -> AnsweredQuestion {
    let units: Vec<Unit> = answer.names.iter().map(|name| Unit::of(name)).collect();
    let json = json!(answer);
    let none = Value::Null;
    let cells = |row: &Value| {
        let cell = |(name, unit): (&String, &Unit)| {
            let figure = row.get(name).unwrap_or(&none);
            (figure.is_number(), unit.show(figure))
        };
        answer.names.iter().zip(&units).map(cell).collect()
    };
    let mut notes = Vec::new();
    if !answer.exact {
        notes.push("The figures are estimates: some stored events stand for several.".to_owned());
    }
    if answer.complete < 1.0 {
        notes.push(format!("Only {:.0} % of the stored events were seen.", answer.complete * 100.0));
    }
    notes.extend(answer.hints.iter().cloned());
    let rows = json["rows"].as_array().map(|rows| rows.iter().map(cells).collect()).unwrap_or_default();
    AnsweredQuestion { text, names: answer.names.clone(), rows, notes, seen: answer.seen.events }
}
