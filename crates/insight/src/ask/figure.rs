//! A figure of a row of an answer.

use crate::column::{Column, ColumnKind};
use serde::ser::{Serialize, Serializer};
use telemetry::{EventId, Millis};

/// A figure of a row.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub enum Figure {
    /// There is none: the mean of no events. `null` in JSON.
    None,
    /// A text. Empty: the events have none.
    Text(Box<str>),
    /// A count, an amount in bytes, a status.
    Whole(i64),
    /// Milliseconds, events in a second, or a part of 1.
    Fraction(f64),
    /// A moment, as RFC 3339 in JSON.
    Moment(Millis),
    /// An id of an event, as 16 hexadecimal digits in JSON.
    Id(EventId),
}

impl Figure {
    /// A cell of a column without texts.
    pub fn cell(column: Column, cell: i64) -> Self {
        match column.kind() {
            ColumnKind::Duration => Figure::Fraction(cell as f64 / 1000.0),
            ColumnKind::Moment => Figure::Moment(Millis(cell)),
            ColumnKind::Id => Figure::Id(EventId(cell.cast_unsigned())),
            ColumnKind::Number | ColumnKind::Text => Figure::Whole(cell),
        }
    }

    /// An estimate, rounded to six significant digits.
    pub(super) fn rounded(value: f64) -> Self {
        if value == 0.0 || !value.is_finite() {
            return Figure::Fraction(0.0);
        }
        let scale = 10f64.powi(5 - value.abs().log10().floor() as i32);
        let rounded = (value * scale).round() / scale;
        Figure::Fraction(if rounded.is_finite() { rounded } else { value })
    }

    /// Its place in an order of figures of the same kind.
    pub(super) fn rank(&self) -> f64 {
        match self {
            Figure::None | Figure::Text(_) => f64::NEG_INFINITY,
            Figure::Whole(whole) | Figure::Moment(Millis(whole)) => *whole as f64,
            Figure::Fraction(fraction) => *fraction,
            Figure::Id(id) => id.0 as f64,
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Figure::None => to.serialize_none(),
            Figure::Text(text) => to.serialize_str(text),
            Figure::Whole(whole) => to.serialize_i64(*whole),
            Figure::Fraction(fraction) => to.serialize_f64(*fraction),
            Figure::Moment(at) => to.collect_str(at),
            Figure::Id(id) => to.collect_str(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_has_six_significant_digits() {
        let rounded = |value| Figure::rounded(value).rank();
        assert_eq!(
            [1.0 / 3.0, 1234.5678, -0.000_012_345_678, 0.0].map(rounded),
            [0.333_333, 1234.57, -0.000_012_345_7, 0.0]
        );
    }
}
