//! The groups of a question, numbered over all parts.

use super::figure::Figure;
use super::keys::{KeyValue, Local};
use super::question::Question;
use crate::column::Column;
use crate::hash::FastMap;
use crate::interner::Interner;
use std::cmp::Ordering;

/// The keys of a group. A text is a place in the list of its column.
type Keys = [i64; Question::KEYS_MAX];

/// The groups of a question, numbered in the order in which they were admitted.
#[derive(Debug)]
pub(super) struct Groups {
    by: Vec<Column>,
    texts: Vec<Interner>,
    /// The only key is a text: then the number of a group is the place of its text, and neither keys nor places of them are needed.
    single: bool,
    keys: Vec<Keys>,
    places: FastMap<Keys, u32>,
    bytes: usize,
}

/// An estimate of the memory of a group without its texts, in bytes: its keys, twice, and its place in the table.
const GROUP_BYTES: usize = 2 * size_of::<Keys>() + 16;

impl Groups {
    /// No groups of these keys.
    pub(super) fn new(by: &[Column]) -> Self {
        let texts = by.iter().map(|_| Interner::default()).collect();
        let single = matches!(by, [key] if key.is_text());
        Self { by: by.to_vec(), texts, single, keys: Vec::new(), places: FastMap::default(), bytes: 0 }
    }

    /// The columns of the keys.
    pub(super) fn by(&self) -> &[Column] {
        &self.by
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match (self.single, self.texts.first()) {
            (true, Some(known)) => known.texts().len(),
            _ => self.keys.len(),
        }
    }

    /// The keys of a group.
    fn keys(&self, group: u32) -> Keys {
        if self.single { [i64::from(group), 0, 0, 0] } else { self.keys[group as usize] }
    }

    /// An estimate of the memory that is used, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The group with these keys, if it was admitted.
    pub(super) fn find(&self, keys: &Found) -> Option<u32> {
        let keys = keys.known?;
        if self.single { Some(keys[0] as u32) } else { self.places.get(&keys).copied() }
    }

    /// Admits a group. Returns its number.
    pub(super) fn admit<'l>(&mut self, values: impl Iterator<Item = KeyValue<'l>>) -> u32 {
        let mut keys = Keys::default();
        for ((key, texts), value) in keys.iter_mut().zip(&mut self.texts).zip(values) {
            *key = match value {
                KeyValue::Number(number) => number,
                KeyValue::Text(text) => {
                    let before = texts.texts().len();
                    let place = texts.intern(text);
                    if before < texts.texts().len() {
                        self.bytes += Interner::TEXT_BYTES + text.len();
                    }
                    i64::from(place)
                }
            };
        }
        if self.single {
            return keys[0] as u32;
        }
        *self.places.entry(keys).or_insert_with(|| {
            self.bytes += GROUP_BYTES;
            self.keys.push(keys);
            self.keys.len() as u32 - 1
        })
    }

    /// The figures of the keys of a group.
    pub(super) fn figures(&self, group: u32) -> impl Iterator<Item = Figure> + '_ {
        let keys = self.keys(group);
        self.by.iter().zip(&self.texts).zip(keys).map(|((column, texts), key)| match column.is_text() {
            true => Figure::Text(texts.texts()[key as usize].into()),
            false => Figure::cell(*column, key),
        })
    }

    /// The values of the keys of a group.
    pub(super) fn values(&self, group: u32) -> impl Iterator<Item = KeyValue<'_>> {
        let keys = self.keys(group);
        self.by.iter().zip(&self.texts).zip(keys).map(|((column, texts), key)| match column.is_text() {
            true => KeyValue::Text(&texts.texts()[key as usize]),
            false => KeyValue::Number(key),
        })
    }

    /// The order of two groups by their keys.
    pub(super) fn compare(&self, a: u32, b: u32) -> Ordering {
        let (a, b) = (self.keys(a), self.keys(b));
        let orders = self.by.iter().zip(&self.texts).zip(a.into_iter().zip(b)).map(|((column, texts), (a, b))| {
            match column.is_text() {
                true => texts.texts()[a as usize].cmp(&texts.texts()[b as usize]),
                false => a.cmp(&b),
            }
        });
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// Keeps these groups, and numbers them in this order.
    pub(super) fn keep(&mut self, groups: &[u32]) {
        let mut kept = Groups::new(&self.by);
        for group in groups {
            kept.admit(self.values(*group));
        }
        *self = kept;
    }
}

/// Finds the groups of one part. It remembers the places of texts that it has looked up.
#[derive(Debug)]
pub(super) struct Finder<'l> {
    keys: &'l [Local],
    places: Vec<Vec<u32>>,
}

/// The keys of a row as they are in the table of groups. `None`: one of its texts is in no group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    known: Option<Keys>,
}

/// Not yet looked up, and looked up without success.
const UNKNOWN: u32 = u32::MAX;
const ABSENT: u32 = u32::MAX - 1;

impl<'l> Finder<'l> {
    /// For rows with these keys.
    pub(super) fn new(keys: &'l [Local]) -> Self {
        let places = keys.iter().map(|key| match key.size() {
            0 => Vec::new(),
            size => match key.value(0) {
                KeyValue::Text(_) => vec![UNKNOWN; size],
                KeyValue::Number(_) => Vec::new(),
            },
        });
        Self { keys, places: places.collect() }
    }

    /// The keys of a row.
    pub(super) fn keys(&mut self, groups: &Groups, row: usize) -> Found {
        let mut keys = Keys::default();
        for (place, (local, known)) in self.keys.iter().zip(&mut self.places).enumerate() {
            let code = local.code(row);
            keys[place] = match local.value(code) {
                KeyValue::Number(number) => number,
                KeyValue::Text(text) => {
                    if known[code] == UNKNOWN {
                        known[code] = groups.texts[place].find(text).unwrap_or(ABSENT);
                    }
                    if known[code] == ABSENT {
                        return Found { known: None };
                    }
                    i64::from(known[code])
                }
            };
        }
        Found { known: Some(keys) }
    }

    /// The values of the keys of a row.
    pub(super) fn values(&self, row: usize) -> impl Iterator<Item = KeyValue<'l>> + '_ {
        self.keys.iter().map(move |key| key.value(key.code(row)))
    }
}
