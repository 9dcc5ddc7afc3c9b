//! The questions of a report, about one stretch of time, and their answers as tables.

use super::cells;
use crate::cli::api::Api;
use crate::cli::ask::Answered;
use serde_json::{Map, Value};
use web::{ReportBlock, ReportTable};

/// How many partial answers of a second each a question gets.
const ROUNDS: u32 = 60;

/// Asks about one stretch of time.
pub(super) struct Asker<'a> {
    pub(super) api: &'a Api,
    from: String,
    to: String,
}

/// The rows of an answer.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Map<String, Value>>,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) exact: bool,
    pub(super) complete: f64,
}

impl<'a> Asker<'a> {
    /// One for the time from `from` to `to`, in which the first question is asked, whose answer has both as moments.
    pub(super) fn new(api: &'a Api, from: &str, to: &str, first: &str) -> anyhow::Result<(Self, Rows)> {
        let asker = Self { api, from: from.to_owned(), to: to.to_owned() };
        let rows = asker.ask(first)?;
        Ok((Self { from: rows.from.clone(), to: rows.to.clone(), ..asker }, rows))
    }

    pub(super) fn from(&self) -> &str {
        &self.from
    }

    pub(super) fn to(&self) -> &str {
        &self.to
    }

    /// The answer to a question without its time.
    pub(super) fn ask(&self, question: &str) -> anyhow::Result<Rows> {
        let text = format!("{question} from {} to {}", self.from, self.to);
        let mut rounds = 0;
        let answer = Answered::to(self.api, text.into(), |_| {
            rounds += 1;
            rounds < ROUNDS
        })?;
        let mut answer = answer.json()?;
        let rows = match answer["rows"].take() {
            Value::Array(rows) => {
                rows.into_iter().filter_map(|row| if let Value::Object(row) = row { Some(row) } else { None }).collect()
            }
            _ => Vec::new(),
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(Rows {
            rows,
            from: text(&answer["from"]),
            to: text(&answer["to"]),
            exact: answer["exact"] == true,
            complete: answer["complete"].as_f64().unwrap_or(1.0),
        })
    }
}

impl Rows {
    /// The table of the answer, with what must be known to read it. `columns`: the names that the table shows, and those of the answer.
    pub(super) fn table(&self, caption: &str, columns: &[(&'static str, &str)]) -> Vec<ReportBlock> {
        let nothing = Value::Null;
        let row = |row: &Map<String, Value>| {
            columns.iter().map(|(_, key)| cells::cell(key, row.get(*key).unwrap_or(&nothing))).collect()
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(row).collect();
        if rows.is_empty() {
            return vec![ReportBlock::Text(format!("{caption}: none."))];
        }
        let caption =
            if self.exact { caption.to_owned() } else { format!("{caption} (estimated from a sample of the events)") };
        let names = columns.iter().map(|(name, _)| *name).collect();
        let mut blocks = vec![ReportBlock::Table(ReportTable { caption, names, rows })];
        blocks.extend(self.part());
        blocks
    }

    /// Whether a part of the events was not seen, in words.
    pub(super) fn part(&self) -> Option<ReportBlock> {
        let part = (self.complete < 1.0).then(|| cells::share(self.complete));
        part.map(|part| {
            ReportBlock::Missing(format!("Only {part} of the stored events were seen within {ROUNDS} seconds."))
        })
    }

    /// The same as a sentence for the summary. Empty if all were seen.
    pub(super) fn part_sentence(&self) -> String {
        match self.complete < 1.0 {
            true => {
                format!("These figures are of the {} of the stored events that were seen.", cells::share(self.complete))
            }
            false => String::new(),
        }
    }

    /// A figure of the first row.
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        self.rows.first()?.get(name)?.as_f64()
    }
}

/// A figure of a row, 0 without one.
pub(super) fn figure(row: &Map<String, Value>, name: &str) -> f64 {
    row.get(name).and_then(Value::as_f64).unwrap_or(0.0)
}

/// A text of a row, empty without one.
pub(super) fn text<'a>(row: &'a Map<String, Value>, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap_or_default()
}
