//! `daylight ask`: questions about stored events, answered by a running server.

mod answer;
mod show;

use super::api::Api;
use super::context::Context;
use super::failure::Failure;
use answer::Answer;
use anyhow::Context as _;
use bytes::Bytes;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::io::Write;

/// The path of questions in the API.
const ASK: &str = "/api/v1/ask";

/// Answer a question about the requests and jobs of a running server
///
/// A question has measures, the columns that group them, a filter and a time, each of which may be left out: `count, p95(duration_ms) by
/// package where layer = group and status >= 500 from -1h top 10`. Put it in quotes, or write it in JSON. docs/asking.md has all measures
/// and columns.
#[derive(Debug, clap::Args)]
pub(super) struct Ask {
    /// The question
    #[arg(required = true)]
    question: Vec<String>,
}

impl Ask {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        let bar = if context.flags.json { ProgressBar::hidden() } else { ProgressBar::new(100) };
        let answered = Answered::to(&api, body(&self.question.join(" "))?, |complete| {
            bar.set_position((complete * 100.0) as u64);
            true
        })?;
        bar.finish_and_clear();
        if context.flags.json {
            api.print_json(&answered.json()?, context)?;
            return Ok(());
        }
        answered.write(context.out)
    }
}

/// The answer to a question: whole, unless the caller wanted no more of it.
pub(super) struct Answered {
    bytes: Bytes,
    answer: Answer,
}

impl Answered {
    /// Asks until the answer is complete, or `goes_on` says no to its complete part, 0 to 1.
    pub(super) fn to(api: &Api, question: Value, mut goes_on: impl FnMut(f64) -> bool) -> anyhow::Result<Self> {
        let mut question = question;
        loop {
            let bytes = api.post_for_bytes(ASK, &question)?;
            let answer: Answer = serde_json::from_slice(&bytes).context(
                "the answer does not have the expected form: is the server of another version than this command?",
            )?;
            match answer.next.as_ref().filter(|_| answer.complete < 1.0) {
                Some(next) if goes_on(answer.complete) => question = json!({ "next": next }),
                _ => return Ok(Self { bytes, answer }),
            }
        }
    }

    /// As the server wrote it, except that keys are sorted.
    pub(super) fn json(&self) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&self.bytes)?)
    }

    /// Writes it for people.
    pub(super) fn write(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        Ok(show::write(out, &self.answer)?)
    }
}

/// The body of a question: an object of the JSON form, or a text.
fn body(question: &str) -> Result<Value, Failure> {
    if !question.trim_start().starts_with('{') {
        return Ok(question.into());
    }
    let hint = "put the whole question in single quotes, so that the shell leaves its double quotes";
    serde_json::from_str(question)
        .map_err(|error| Failure::usage(format!("the JSON of the question cannot be read: {error}"), hint))
}
