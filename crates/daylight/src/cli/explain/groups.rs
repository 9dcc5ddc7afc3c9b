//! The time of an answer whose event was stored without its single operations, as a table: groups of operations add up to its duration.

use super::record::Record;
use crate::cli::table;
use insight::{Column, LINE};
use std::io::{self, Write};

/// The columns of the table.
const HEAD: [&str; 4] = ["TIME SPENT ON", "MS", "SHARE", "WHAT"];

/// Writes the table, the longest time first. Nothing if the event has no such times.
pub(super) fn write(out: &mut dyn Write, record: &Record) -> io::Result<()> {
    let Some(total) = record.duration_ms else { return Ok(()) };
    let time = |column: &Column| {
        let ms = match column {
            Column::Unaccounted => record.unaccounted_ms,
            column => record.others.get(column.as_str())?.as_f64(),
        };
        ms.map(|ms| (*column, ms))
    };
    let mut times: Vec<(Column, f64)> = LINE.iter().filter_map(time).collect();
    if !times.iter().any(|(column, _)| *column != Column::Unaccounted) {
        return Ok(());
    }
    times.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let share = |ms: f64| if total > 0.0 { format!("{:.0} %", 100.0 * ms / total) } else { String::new() };
    let row = |(column, ms): (Column, f64)| {
        let name = column.as_str().trim_end_matches("_ms").to_owned();
        [name, format!("{ms:.3}"), share(ms), column.doc().to_owned()]
    };
    let mut rows: Vec<[String; 4]> = times.into_iter().map(row).collect();
    rows.push(["in all".into(), format!("{total:.3}"), "100 %".into(), String::new()]);
    writeln!(out)?;
    table::write(out, HEAD, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(event: serde_json::Value) -> String {
        let mut out = Vec::new();
        write(&mut out, &serde_json::from_value(event).unwrap()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn groups_of_operations_are_shown_with_the_longest_first() {
        let event =
            json!({ "duration_ms": 10.0, "unaccounted_ms": 1.5, "truth_ms": 2.5, "upstream_ms": 6.0, "size": 7 });
        let text = shown(event);
        let words = |line: &str| line.split_whitespace().take(4).map(str::to_owned).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        let expected = [
            "",
            "TIME SPENT ON MS",
            "upstream 6.000 60 %",
            "truth 2.500 25 %",
            "unaccounted 1.500 15 %",
            "in all 10.000 100",
        ];
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn an_event_without_times_of_groups_has_no_table() {
        assert_eq!(shown(json!({ "duration_ms": 10.0, "unaccounted_ms": 10.0 })), "");
        assert_eq!(shown(json!({})), "");
    }
}
