//! The answer to a question, as far as it is shown.

use super::super::silent_nodes::AskedNode;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// An answer.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) rows: Vec<Row>,
    pub(super) exact: bool,
    pub(super) complete: f64,
    #[serde(default)]
    pub(super) from: String,
    #[serde(default)]
    pub(super) to: String,
    pub(super) seen: Seen,
    pub(super) left_out: u64,
    pub(super) cost: Cost,
    pub(super) next: Option<String>,
    #[serde(default)]
    pub(super) unreadable: Vec<String>,
    #[serde(default)]
    pub(super) hints: Vec<String>,
    pub(super) compared: Option<Compared>,
    #[serde(default)]
    pub(super) nodes: Vec<AskedNode>,
}

/// What the answer was made from.
#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    pub(super) events: u64,
    pub(super) segments: u64,
    pub(super) skipped: u64,
}

/// What the answer cost.
#[derive(Debug, Deserialize)]
pub(super) struct Cost {
    pub(super) cpu_ms: f64,
}

/// The two sides of a comparison.
#[derive(Debug, Deserialize)]
pub(super) struct Compared {
    pub(super) selected: Side,
    pub(super) base: Side,
    pub(super) line: Vec<Step>,
}

/// A side of a comparison.
#[derive(Debug, Deserialize)]
pub(super) struct Side {
    pub(super) events: u64,
    pub(super) duration_ms: f64,
}

/// The mean time of operations, on both sides, in milliseconds.
#[derive(Debug, Deserialize)]
pub(super) struct Step {
    pub(super) column: String,
    pub(super) selected: f64,
    pub(super) base: f64,
    pub(super) difference: f64,
}

/// The values of a row with their names, in the order of the answer.
#[derive(Debug)]
pub(super) struct Row(pub(super) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Values;

        impl<'de> Visitor<'de> for Values {
            type Value = Row;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object with values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let mut row = Vec::new();
                while let Some(value) = map.next_entry()? {
                    row.push(value);
                }
                Ok(Row(row))
            }
        }

        from.deserialize_map(Values)
    }
}
