//! Values of filters: how they are read for a column, and written.

use super::mistake::{Mistake, Position};
use super::names::clipped;
use super::question::Value;
use super::times;
use crate::column::{Column, ColumnKind};
use telemetry::{EventId, Millis};

/// The longest text of a filter, in bytes.
pub(super) const TEXT_MAX: usize = 4096;

/// Units of amounts in bytes.
const BYTES: &[(&str, i64)] = &[
    ("kB", 1000),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
/// Units of durations, in microseconds.
const DURATIONS: &[(&str, i64)] = &[("us", 1), ("ms", 1000), ("s", 1_000_000), ("m", 60_000_000), ("h", 3_600_000_000)];

/// Reads a value for a column.
pub(super) fn read(text: &str, column: Column, now: Millis, place: &Position) -> Result<Value, Mistake> {
    let (value, expects) = match column.kind() {
        ColumnKind::Text if text.len() <= TEXT_MAX => return Ok(Value::Text(text.into())),
        ColumnKind::Text => {
            return Err(Mistake::new(place, format!("a value has at most {TEXT_MAX} bytes; this has {}", text.len())));
        }
        ColumnKind::Number if column == Column::Status => {
            (number(text, 1, &[]), "a number such as `404`; for a range write `status >= 500 and status < 600`")
        }
        ColumnKind::Number if !column.as_str().contains("bytes") => (number(text, 1, &[]), "a whole number"),
        ColumnKind::Number => (
            number(text, 1, BYTES),
            "a whole number, or an amount in bytes such as `10MB` (`kB`, `MB`, `GB`, `KiB`, `MiB`, `GiB`)",
        ),
        ColumnKind::Duration => (
            number(text, 1000, DURATIONS),
            "a number of milliseconds with at most three digits behind the point, or a number and `us`, `ms`, `s`, `m` or `h`",
        ),
        ColumnKind::Moment => (times::moment(text, now).map(|at| at.0), times::MOMENT),
        ColumnKind::Id => (EventId::read(text).map(|id| id.0.cast_signed()), "16 hexadecimal digits"),
    };
    value.map(Value::Number).ok_or_else(|| {
        let (column, text) = (column.as_str(), clipped(text));
        Mistake::new(place, format!("`{text}` is no value for `{column}`, which expects {expects}"))
    })
}

/// Reads a decimal number, followed by a unit or not, as a whole number of the smallest parts. `None`: it is no number, or no whole
/// number of parts.
fn number(text: &str, without_unit: i64, units: &[(&str, i64)]) -> Option<i64> {
    let letters = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(letters);
    let size = match unit {
        "" => without_unit,
        unit => units.iter().find(|(name, _)| *name == unit)?.1,
    };
    let (sign, number) = number.strip_prefix('-').map_or((1, number), |rest| (-1, rest));
    let (whole, behind) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(behind) || behind.len() > 9 || number.ends_with('.') {
        return None;
    }
    let scale = 10_i128.pow(behind.len() as u32);
    let behind = if behind.is_empty() { 0 } else { behind.parse::<i128>().ok()? };
    let parts = whole.parse::<u64>().map(i128::from).ok()?.checked_mul(scale)?.checked_add(behind)?;
    let parts = parts.checked_mul(size.into())?;
    (parts % scale == 0).then(|| i64::try_from(sign * (parts / scale)).ok())?
}

/// Writes the value of a column as the text form has it.
pub(super) fn write(value: &Value, column: Column) -> String {
    match (value, column.kind()) {
        (Value::Text(text), _) => quoted(text),
        (Value::Number(number), ColumnKind::Duration) => milliseconds(*number),
        (Value::Number(number), ColumnKind::Moment) => Millis(*number).to_string(),
        (Value::Number(number), ColumnKind::Id) => EventId(number.cast_unsigned()).to_string(),
        (Value::Number(number), _) => number.to_string(),
    }
}

/// Microseconds as milliseconds, without zeros at the end.
fn milliseconds(micros: i64) -> String {
    let (sign, micros) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    let text = format!("{sign}{}.{:03}", micros / 1000, micros % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A text in quotes, or without them where it needs none.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@+*".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut quoted = "\"".to_owned();
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_of(text: &str, column: Column) -> Option<i64> {
        match read(text, column, Millis(1_793_534_400_000), &Position::Whole) {
            Ok(Value::Number(number)) => Some(number),
            _ => None,
        }
    }

    #[test]
    fn a_duration_is_in_milliseconds_or_has_a_unit() {
        for (text, micros) in
            [("5", 5000), ("8.1", 8100), ("0.001", 1), ("2s", 2_000_000), ("1.5m", 90_000_000), ("-3", -3000)]
        {
            assert_eq!(number_of(text, Column::Duration), Some(micros), "{text}");
        }
        for wrong in
            ["", "s", "1.0001", "1e3", "+1", "1.", ".5", "--1", "1 s", "99999999999999999999", "9223372036854775807"]
        {
            assert_eq!(number_of(wrong, Column::Duration), None, "{wrong}");
        }
    }

    #[test]
    fn a_number_may_be_an_amount_in_bytes() {
        for (text, bytes) in [("500", 500), ("10MB", 10_000_000), ("1.5KiB", 1536), ("0", 0)] {
            assert_eq!(number_of(text, Column::BytesOut), Some(bytes), "{text}");
        }
        for wrong in ["1.5", "10mb", "10 MB", "10XB", "1.0001kB"] {
            assert_eq!(number_of(wrong, Column::BytesOut), None, "{wrong}");
        }
    }

    #[test]
    fn a_moment_and_an_id_have_the_forms_that_answers_have() {
        assert_eq!(number_of("-1m", Column::At), Some(1_793_534_340_000));
        assert_eq!(number_of("ffffffffffffffff", Column::Id), Some(-1));
        assert_eq!(number_of("ff", Column::Id), None);
    }

    #[test]
    fn a_text_longer_than_the_limit_is_refused() {
        let read = |bytes| read(&"x".repeat(bytes), Column::Path, Millis(0), &Position::Whole);
        assert!(read(TEXT_MAX).is_ok());
        assert_eq!(read(TEXT_MAX + 1).unwrap_err().message, "a value has at most 4096 bytes; this has 4097");
    }
}
