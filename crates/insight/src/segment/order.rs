//! The order of the rows of a segment.

use super::not_written::NotWritten;
use crate::column::Column;
use crate::part::Part;

/// The order in which rows are written.
pub(super) struct Order {
    /// The earliest and the latest [`Column::At`].
    pub(super) span: (i64, i64),
    /// The places of the rows of all parts. `None`: they are in the order of time.
    places: Option<Vec<u32>>,
}

impl Order {
    /// The order of the rows of these parts.
    pub(super) fn of(parts: &[&dyn Part]) -> Result<Self, NotWritten> {
        let mut at = Vec::new();
        for part in parts {
            at.extend(part.numbers(Column::At)?);
        }
        let (Some(from), Some(to)) = (at.iter().min(), at.iter().max()) else { return Err(NotWritten::Empty) };
        let span = (*from, *to);
        if at.is_sorted() {
            return Ok(Self { span, places: None });
        }
        let mut places: Vec<u32> = (0..at.len() as u32).collect();
        places.sort_by_key(|place| at[*place as usize]);
        Ok(Self { span, places: Some(places) })
    }

    /// Cells of all parts, in the order of the file.
    pub(super) fn apply<T: Copy>(&self, cells: Vec<T>) -> Vec<T> {
        match &self.places {
            None => cells,
            Some(places) => places.iter().map(|place| cells[*place as usize]).collect(),
        }
    }
}
