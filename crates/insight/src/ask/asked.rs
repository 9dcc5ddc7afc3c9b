//! A request to answer a question, or to go on answering one.

use super::mistake::{Mistake, Position};
use super::question::Question;
use super::{draft, json};
use serde_json::Value as Json;
use telemetry::Millis;

/// A request to answer a question, or to go on answering one.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// A new question.
    Question(Box<Question>),
    /// More of an answer that was not complete: `{"next": "...", "wait_ms": 1000}`.
    Next {
        /// The handle in that answer.
        handle: String,
        /// How long the caller waits, in milliseconds.
        wait_ms: u64,
    },
}

impl Asked {
    /// Reads a request: a JSON object, a JSON text with the text form, or the text form itself. `now`: the present moment, from which times
    /// such as `-1h` are counted.
    ///
    /// # Errors
    /// If it is no question. The mistake names its place.
    pub fn read(text: &str, now: Millis) -> Result<Self, Mistake> {
        let trimmed = text.trim_start();
        if !trimmed.starts_with(['{', '"']) {
            return Question::from_text(text, now).map(Self::question);
        }
        let json: Json = serde_json::from_str(trimmed)
            .map_err(|error| Mistake::new(&Position::Whole, format!("the JSON cannot be read: {error}")))?;
        let object = match json {
            Json::String(text) => return Question::from_text(&text, now).map(Self::question),
            Json::Object(object) => object,
            _ => return Err(Mistake::new(&Position::Whole, "expected an object or a text")),
        };
        let Some(handle) = object.get("next").filter(|handle| !handle.is_null()) else {
            let mut object = object;
            object.remove("next");
            return Question::from_json(&object, now).map(Self::question);
        };
        if let Some(other) = object.keys().find(|key| !["next", "wait_ms"].contains(&key.as_str())) {
            return Err(Mistake::new(&Position::part(other), "with `next` there is only `wait_ms`"));
        }
        let handle = json::string(handle, "next")?.to_owned();
        let wait_ms = json::number(object.get("wait_ms"), "wait_ms")?;
        Ok(Self::Next { handle, wait_ms: draft::wait_ms(wait_ms)? })
    }

    fn question(question: Question) -> Self {
        Self::Question(Box::new(question))
    }
}
