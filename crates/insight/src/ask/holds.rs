//! Whether a filter holds for one row. Answers use columns instead; this is for rows that were just made.

use super::question::{Filter, Is, Value};
use crate::column::Cell;
use crate::row::Row;
use std::cmp::Ordering;

impl Filter {
    /// Whether it holds for a row.
    pub fn holds(&self, row: &Row<'_>) -> bool {
        match self {
            Filter::All(filters) => filters.iter().all(|filter| filter.holds(row)),
            Filter::Any(filters) => filters.iter().any(|filter| filter.holds(row)),
            Filter::Not(filter) => !filter.holds(row),
            Filter::Test { column, is, value } => is.holds(column.cell(row), value),
        }
    }
}

impl Is {
    /// Whether a cell compares so with a value. A value of another form than the cell's never does.
    pub fn holds(self, cell: Cell<'_>, value: &Value) -> bool {
        match (cell, value) {
            (Cell::Text(cell), Value::Text(value)) => self.holds_for_text(cell, value),
            (Cell::Number(cell), Value::Number(value)) => self.holds_for_order(cell.cmp(value)),
            (Cell::Text(_), Value::Number(_)) | (Cell::Number(_), Value::Text(_)) => false,
        }
    }

    /// Whether a text compares so with a value.
    pub fn holds_for_text(self, text: &str, value: &str) -> bool {
        match self {
            Is::StartsWith => text.starts_with(value),
            Is::EndsWith => text.ends_with(value),
            Is::Contains => text.contains(value),
            is => is.holds_for_order(text.cmp(value)),
        }
    }

    /// Whether a cell compares so, that is in this order to a value.
    pub(super) fn holds_for_order(self, order: Ordering) -> bool {
        match self {
            Is::Equal => order.is_eq(),
            Is::NotEqual => order.is_ne(),
            Is::Less => order.is_lt(),
            Is::AtMost => order.is_le(),
            Is::Greater => order.is_gt(),
            Is::AtLeast => order.is_ge(),
            Is::StartsWith | Is::EndsWith | Is::Contains => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RepositoryFacts;
    use telemetry::{Event, Millis};

    #[test]
    fn a_filter_in_the_text_form_holds_for_the_rows_that_it_describes() {
        let mut event = Event::default();
        event.status = 503;
        event.subject.repository = "gems".into();
        event.path = "/repository/gems/info/rack".into();
        let row = Row::of(&event, RepositoryFacts { kind: "group", format: "gem" });
        for (text, holds) in [
            ("", true),
            ("status >= 500", true),
            ("status > 503", false),
            ("not status < 500 and repository_kind = group", true),
            ("format = maven or path ends_with /rack", true),
            ("path contains info and (package != '' or bytes_out > 0)", false),
            ("path starts_with /repository/", true),
        ] {
            assert_eq!(Filter::from_text(text, Millis(0)).unwrap().holds(&row), holds, "{text}");
        }
    }
}
