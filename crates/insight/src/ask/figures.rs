//! The figures of a node's groups as another node adds them.

use super::cells::Cells;
use super::keys::KeyValue;
use super::series::{Series, SeriesFigures};
use super::table::Table;
use crate::column::Column;
use serde::{Deserialize, Serialize};

/// The figures of one node's groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// The keys of each group.
    groups: Vec<Vec<Key>>,
    counted: Vec<Cells>,
    series: Option<SeriesFigures>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Key {
    Number(i64),
    Text(Box<str>),
}

impl Key {
    fn value(&self) -> KeyValue<'_> {
        match self {
            Self::Number(number) => KeyValue::Number(*number),
            Self::Text(text) => KeyValue::Text(text),
        }
    }
}

impl Figures {
    /// Those of these groups.
    pub(super) fn of(table: &Table, series: Option<&Series>, groups: &[u32]) -> Self {
        let key = |value: KeyValue<'_>| match value {
            KeyValue::Number(number) => Key::Number(number),
            KeyValue::Text(text) => Key::Text(text.into()),
        };
        Self {
            groups: groups.iter().map(|group| table.groups.values(*group).map(key).collect()).collect(),
            counted: table.aggregates.of(groups),
            series: series.map(|series| series.of(groups)),
        }
    }

    /// Adds them to those of other nodes. Returns whether they are of the same question.
    pub(super) fn add_to(&self, table: &mut Table, series: Option<&mut Series>) -> bool {
        let by = table.groups.by();
        let fits = |(key, column): (&Key, &Column)| matches!(key, Key::Text(_)) == column.is_text();
        let are_keys = |keys: &Vec<Key>| keys.len() == by.len() && keys.iter().zip(by).all(fits);
        let groups = self.groups.len();
        let is_same = self.groups.iter().all(are_keys) && table.aggregates.fits(groups, &self.counted);
        let series = match (series, &self.series) {
            (Some(series), Some(other)) if series.fits(groups, other) => Some((series, other)),
            (None, None) => None,
            _ => return false,
        };
        if !is_same {
            return false;
        }
        let admit = |keys: &Vec<Key>| table.groups.admit(keys.iter().map(Key::value));
        let places: Vec<u32> = self.groups.iter().map(admit).collect();
        table.aggregates.grow(table.groups.len());
        table.aggregates.merge(&places, &self.counted);
        if let Some((series, other)) = series {
            series.merge(&places, other);
        }
        true
    }
}
