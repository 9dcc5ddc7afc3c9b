//! Advice that was taken: the client time that a change was to save, and what came of it.

use super::cells;
use serde::Deserialize;
use serde_json::Value;
use web::{ReportBlock, ReportTable};

/// What a change that was advised has promised, and what came of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Promise {
    setting: String,
    from: Value,
    to: Value,
    changed_at: String,
    promised_s_per_hour: f64,
    came_s_per_hour: Option<f64>,
    state: String,
}

impl Promise {
    fn changed(&self) -> String {
        let Self { setting, from, to, .. } = self;
        let values = match (from, to) {
            (Value::Array(_), _) | (_, Value::Array(_)) => String::new(),
            (Value::Null, to) => format!(" to {}", plain(to)),
            (from, to) => format!(" from {} to {}", plain(from), plain(to)),
        };
        cells::foreign(&format!("{setting}{values}, {}", cells::minute(&self.changed_at)))
    }

    /// It in words.
    pub(super) fn sentence(&self) -> String {
        let (promised, at) = (cells::seconds(self.promised_s_per_hour), self.changed());
        let came = match (self.came_s_per_hour, &*self.state) {
            (_, "undone") => "The value was changed again before that could be measured.".to_owned(),
            (Some(came), "held") => format!("It saved {}: the promise was held.", cells::seconds(came)),
            (Some(came), "did not hold") => format!("It saved {}: the promise was not held.", cells::seconds(came)),
            (Some(came), _) => format!("So far it saved {}.", cells::seconds(came)),
            (None, _) => "What came of it is not known yet.".to_owned(),
        };
        format!("Changed: {at}. It was to save clients {promised} in an hour. {came}")
    }
}

/// The promises beside what came of them. `None`: no advice was taken.
pub(super) fn table<'a>(promises: impl Iterator<Item = &'a Promise>) -> Option<ReportBlock> {
    let row = |promise: &Promise| {
        let came = promise.came_s_per_hour.map_or_else(|| "not known yet".to_owned(), cells::seconds);
        vec![promise.changed(), cells::seconds(promise.promised_s_per_hour), came, cells::foreign(&promise.state)]
    };
    let rows: Vec<Vec<String>> = promises.map(row).collect();
    let names = vec!["Change that was advised", "#Promised in an hour", "#Came in an hour", "Promise"];
    let caption = "Advice that was taken: the client time that it was to save, and saved".to_owned();
    (!rows.is_empty()).then_some(ReportBlock::Table(ReportTable { caption, names, rows }))
}

/// A value of a setting, without quotes.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
