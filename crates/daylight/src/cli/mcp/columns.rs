//! The resource with the columns of events, which questions name.

use insight::{Column, ColumnKind};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Its name.
pub(super) const URI: &str = "daylight://columns";
const MIME: &str = "text/markdown";

/// Its entry in the list.
pub(super) fn listed() -> Value {
    json!({
        "uri": URI, "name": "columns", "title": "Columns of events", "mimeType": MIME,
        "description": "The columns that questions of the tool `ask` compare, group by and measure, each with its meaning",
    })
}

/// Its content.
pub(super) fn content() -> Value {
    json!({ "contents": [{ "uri": URI, "mimeType": MIME, "text": table() }] })
}

fn table() -> String {
    let mut text = "| column | cells | meaning |\n|---|---|---|\n".to_owned();
    for column in Column::ALL {
        let cells = match column.kind() {
            ColumnKind::Text => "text",
            ColumnKind::Number => "number",
            ColumnKind::Duration => "duration in milliseconds",
            ColumnKind::Moment => "moment",
            ColumnKind::Id => "id",
        };
        let _ = writeln!(text, "| `{}` | {cells} | {} |", column.as_str(), column.doc());
    }
    text
}
