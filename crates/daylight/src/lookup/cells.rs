//! The cells of a table of measures, with the unit of each column.

use insight::{Column, ColumnKind};
use serde_json::Value;

/// What the values of a column count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Text,
    Plain,
    Milliseconds,
    Bytes,
    EachSecond,
    Share,
}

impl Unit {
    /// The unit of the column of that name: `package`, `count`, `p95(duration_ms)`.
    pub(crate) fn of(name: &str) -> Self {
        let (measure, column) = match name.split_once('(') {
            Some((measure, rest)) => (measure, rest.trim_end_matches(')')),
            None => ("", name),
        };
        match (measure, Column::read(column)) {
            ("share", _) => Unit::Share,
            ("distinct", _) => Unit::Plain,
            (_, Some(column)) => match column.kind() {
                ColumnKind::Duration => Unit::Milliseconds,
                ColumnKind::Number if column.as_str().contains("bytes") => Unit::Bytes,
                ColumnKind::Number => Unit::Plain,
                ColumnKind::Text | ColumnKind::Moment | ColumnKind::Id => Unit::Text,
            },
            (_, None) if name == "rate" => Unit::EachSecond,
            (_, None) if name.ends_with("share") => Unit::Share,
            (_, None) => Unit::Plain,
        }
    }

    /// A value for people.
    pub(crate) fn show(self, figure: &Value) -> String {
        match (figure, figure.as_f64()) {
            (Value::Null, _) => "-".to_owned(),
            (Value::String(text), _) if text.is_empty() => "-".to_owned(),
            (Value::String(text), _) => text.clone(),
            (_, Some(number)) => match self {
                Unit::Milliseconds => milliseconds(number),
                Unit::Bytes => bytes(number),
                Unit::EachSecond => format!("{}/s", three_digits(number)),
                Unit::Share => format!("{} %", three_digits(number * 100.0)),
                Unit::Text | Unit::Plain if figure.is_f64() => three_digits(number),
                Unit::Text | Unit::Plain => figure.to_string(),
            },
            (other, None) => other.to_string(),
        }
    }
}

/// A time in milliseconds, in the unit in which it is easy to read.
pub(crate) fn milliseconds(number: f64) -> String {
    let units = [(3_600_000.0, "h"), (60_000.0, "min"), (1000.0, "s")];
    match units.into_iter().find(|(size, _)| number.abs() >= 2.0 * size || (*size == 1000.0 && number.abs() >= 1000.0))
    {
        Some((size, unit)) => format!("{} {unit}", three_digits(number / size)),
        None => format!("{} ms", three_digits(number)),
    }
}

fn bytes(number: f64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|(size, _)| number.abs() >= *size) {
        Some((size, unit)) => format!("{} {unit}", three_digits(number / size)),
        None => format!("{} B", three_digits(number)),
    }
}

/// At least three digits of a number, where it has them: `0.123`, `1.2`, `12.3`, `1234`.
fn three_digits(number: f64) -> String {
    let places = match number.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{number:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_has_the_unit_of_its_column() {
        for (name, figure, shown) in [
            ("package", json!("rack"), "rack"),
            ("package", json!(""), "-"),
            ("at", json!("2026-11-23T12:00:00.000Z"), "2026-11-23T12:00:00.000Z"),
            ("count", json!(1_234_567), "1234567"),
            ("status", json!(503), "503"),
            ("p95(duration_ms)", json!(8.1), "8.1 ms"),
            ("p95(duration_ms)", json!(0.0324), "0.032 ms"),
            ("max(duration_ms)", json!(1530.4), "1.53 s"),
            ("sum(duration_ms)", json!(7_200_000.0), "2 h"),
            ("mean(first_byte_ms)", Value::Null, "-"),
            ("sum(bytes_out)", json!(12_345_678), "12.3 MB"),
            ("max(bytes_in)", json!(7), "7 B"),
            ("rate", json!(0.5), "0.5/s"),
            ("share(status >= 500)", json!(0.1234), "12.3 %"),
            ("distinct(bytes_out)", json!(12.0), "12"),
            ("mean(status)", json!(201.26), "201"),
        ] {
            assert_eq!(Unit::of(name).show(&figure), shown, "{name}");
        }
    }
}
