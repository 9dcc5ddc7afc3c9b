//! The answer to a question: rows of figures, how much was seen for them, and what they cost.

use super::compare::Compared;
use super::figure::Figure;
use super::figures::Figures;
use super::question::{Measure, Question};
use crate::column::Column;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer};
use telemetry::Millis;

/// An answer. As JSON it has the keys of its fields, and each row is an object with the keys [`Answer::names`].
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The names of the figures of a row: `at` in a series, then those of the keys and the measures.
    pub names: Vec<String>,
    /// The rows, in the order that the question states. Each has one figure for each name.
    pub rows: Vec<Vec<Figure>>,
    /// Whether each event that was seen is stored itself. Otherwise some of them stand for others, and the figures are estimates.
    pub exact: bool,
    /// How much of the stored events was seen, 0 to 1.
    pub complete: f64,
    /// The figures are of events that began at this moment or later.
    pub from: Millis,
    /// The figures are of events that began before this moment.
    pub to: Millis,
    /// The parts that were seen.
    pub seen: Seen,
    /// Events that the filter chose and that are in no row, because there were too many groups. The limit of rows leaves out none.
    pub left_out: u64,
    /// The cost of the answer.
    pub cost: Cost,
    /// The handle with which a caller gets more, while `complete` is less than 1.
    pub next: Option<String>,
    /// Parts that could not be read, each with the cause; at most [`Answer::UNREADABLE_MAX`].
    pub unreadable: Vec<String>,
    /// Probable mistakes in the question: values that no event can have, with the nearest ones.
    pub hints: Vec<String>,
    /// The two sides of a comparison. The rows are then the differences between them.
    pub compared: Option<Compared>,
    /// The figures in place of rows, for a question with [`Question::seed`].
    pub(crate) figures: Option<Figures>,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAnswered {
    /// As many questions as possible are being answered.
    #[error("{0} questions are being answered already")]
    Busy(u64),
    /// As many questions of the caller as possible are being answered.
    #[error("{0} of your questions are being answered already")]
    BusyForCaller(u64),
    /// The handle is unknown, or of another caller.
    #[error("there is no partial answer `{0}`")]
    NoHandle(String),
    /// The program made a mistake, which it has logged.
    #[error("the question could not be answered because of a bug")]
    Failed,
    /// The server stops.
    #[error("the server stops")]
    Stopped,
    /// A comparison needs more events.
    #[error("{message}")]
    TooFew {
        /// Which side has too few.
        message: String,
        /// The remedy.
        hint: String,
    },
}

impl NotAnswered {
    /// The remedy, where there is one.
    pub fn hint(&self) -> Option<&str> {
        match self {
            NotAnswered::Busy(_) => Some("ask again in a few seconds; the setting `server.max_asks` is the limit"),
            NotAnswered::BusyForCaller(_) => Some(
                "ask again in a few seconds; the setting `server.client_share_percent` is the share of one client or token",
            ),
            NotAnswered::NoHandle(_) => Some("a partial answer is kept for a minute; ask the question again"),
            NotAnswered::TooFew { hint, .. } => Some(hint),
            NotAnswered::Failed | NotAnswered::Stopped => None,
        }
    }
}

/// The parts from which an answer was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Seen {
    /// Events of the parts that were read or skipped. A part lies partly outside of the question's time if it holds an end of it.
    pub events: u64,
    /// Events of all parts of the question's time.
    pub of: u64,
    /// Parts that were read.
    pub segments: u64,
    /// Parts that were not read, because no event of them can be in the answer.
    pub skipped: u64,
}

impl Seen {
    /// The part that was seen, of an answer that is not complete: at most 0.99, since parts are left.
    pub(super) fn share(&self) -> f64 {
        (self.events as f64 / self.of.max(1) as f64 * 100.0).floor().min(99.0) / 100.0
    }
}

/// The cost of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Cost {
    /// Processor time, in milliseconds.
    pub cpu_ms: f64,
    /// Bytes that were read from the disk or from the kernel's cache of it.
    pub bytes: u64,
}

impl Answer {
    /// The most parts that are named as unreadable.
    pub const UNREADABLE_MAX: usize = 8;

    /// An answer without rows to this question.
    pub fn empty(question: &Question) -> Self {
        Self {
            names: names(question),
            rows: Vec::new(),
            exact: true,
            complete: 1.0,
            from: question.from,
            to: question.to,
            seen: Seen::default(),
            left_out: 0,
            cost: Cost::default(),
            next: None,
            unreadable: Vec::new(),
            hints: Vec::new(),
            compared: None,
            figures: None,
        }
    }
}

/// The names of the figures of a row.
fn names(question: &Question) -> Vec<String> {
    let at = (question.per > 0).then(|| Column::At.as_str().to_owned());
    let keys = question.by.iter().map(|key| key.0.as_str().to_owned());
    at.into_iter().chain(keys).chain(question.measures.iter().map(Measure::to_string)).collect()
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut answer = to.serialize_struct("Answer", 13)?;
        answer.serialize_field("rows", &Rows(self))?;
        answer.serialize_field("exact", &self.exact)?;
        answer.serialize_field("complete", &self.complete)?;
        answer.serialize_field("from", &self.from.to_string())?;
        answer.serialize_field("to", &self.to.to_string())?;
        answer.serialize_field("seen", &self.seen)?;
        answer.serialize_field("left_out", &self.left_out)?;
        answer.serialize_field("cost", &self.cost)?;
        answer.serialize_field("next", &self.next)?;
        if !self.unreadable.is_empty() {
            answer.serialize_field("unreadable", &self.unreadable)?;
        }
        if !self.hints.is_empty() {
            answer.serialize_field("hints", &self.hints)?;
        }
        if let Some(compared) = &self.compared {
            answer.serialize_field("compared", compared)?;
        }
        answer.end()
    }
}

/// The rows of an answer as objects.
struct Rows<'a>(&'a Answer);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut rows = to.serialize_seq(Some(self.0.rows.len()))?;
        for row in &self.0.rows {
            rows.serialize_element(&Object(&self.0.names, row))?;
        }
        rows.end()
    }
}

/// A row as an object.
struct Object<'a>(&'a [String], &'a [Figure]);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut row = to.serialize_map(Some(self.0.len()))?;
        for (name, figure) in self.0.iter().zip(self.1) {
            row.serialize_entry(name, figure)?;
        }
        row.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question::from_text("count, p95(duration_ms) by package", Millis(60_000)).unwrap()
    }

    #[test]
    fn an_answer_is_json_with_an_object_for_each_row() {
        let rows = vec![vec![Figure::Text("rack".into()), Figure::Whole(412), Figure::Fraction(8.1)]];
        let answer = Answer { rows, ..Answer::empty(&question()) };
        let json = r#"{"rows":[{"package":"rack","count":412,"p95(duration_ms)":8.1}],"exact":true,"complete":1.0,"#;
        let rest = r#""from":"1970-01-01T00:00:00.000Z","to":"1970-01-01T00:01:00.000Z","#;
        let seen = r#""seen":{"events":0,"of":0,"segments":0,"skipped":0},"left_out":0,"#;
        let cost = r#""cost":{"cpu_ms":0.0,"bytes":0},"next":null}"#;
        assert_eq!(serde_json::to_string(&answer).unwrap(), [json, rest, seen, cost].concat());
    }

    #[test]
    fn a_row_of_a_series_begins_with_its_moment() {
        let series = Question { per: 60_000, ..question() };
        assert_eq!(Answer::empty(&series).names, ["at", "package", "count", "p95(duration_ms)"]);
    }
}
