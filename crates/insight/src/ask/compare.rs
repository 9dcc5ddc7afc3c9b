//! A comparison: in which columns some events differ from others, and where their time went.

use crate::column::Column;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// The two sides of a comparison, and the difference of their durations.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Compared {
    /// The events that the filter chooses.
    pub selected: Side,
    /// The events that they are compared with.
    pub base: Side,
    /// The steps of [`crate::LINE`]. Their differences add up to that of the mean durations.
    pub line: Vec<Step>,
}

/// A side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Side {
    /// Events.
    pub events: u64,
    /// Stored events that were looked at: all of them, or a random part.
    pub sample: u64,
    /// The mean of [`Column::Duration`], in milliseconds.
    pub duration_ms: f64,
}

/// The mean time of operations on the line, on both sides, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The operations.
    pub column: Column,
    /// The mean of the events that the filter chooses.
    pub selected: f64,
    /// The mean of the events that they are compared with.
    pub base: f64,
}

impl Step {
    /// The part of the difference of the durations, in milliseconds.
    pub fn difference(&self) -> f64 {
        self.selected - self.base
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut step = to.serialize_struct("Step", 4)?;
        step.serialize_field("column", self.column.as_str())?;
        step.serialize_field("selected", &self.selected)?;
        step.serialize_field("base", &self.base)?;
        step.serialize_field("difference", &self.difference())?;
        step.end()
    }
}
