//! Rows of rollups with their texts: those in memory, of a file, or of a piece of the log.

use super::counts::Counts;
use super::{KEYS_MAX, MINUTE, OTHER, OWN_KEYS_MAX};
use crate::column::Column;
use crate::hash::FastMap;
use crate::interner::Interner;

/// The columns of texts that the events of a row have in common. They have the names and the values that events have.
pub(crate) const TEXTS: [Column; 7] = [
    Column::Kind,
    Column::Class,
    Column::Layer,
    Column::Repository,
    Column::RepositoryKind,
    Column::Format,
    Column::Outcome,
];

/// The columns of numbers of a row, beside its time and its durations.
pub(crate) const NUMBERS: [Column; 4] = [Column::Status, Column::Weight, Column::BytesIn, Column::BytesOut];
/// The durations whose distribution is counted.
pub(crate) const DURATIONS: [Column; 2] = [Column::FirstByte, Column::Duration];

/// The number of a row in a column; of a duration, the sum. `None`: rollups do not have the column.
pub(crate) fn number(row: &(Key, Counts), column: Column) -> Option<i64> {
    let (key, counts) = row;
    Some(match column {
        Column::At => key.at,
        Column::Status => key.status.into(),
        Column::Weight => whole(counts.events),
        Column::BytesIn => whole(counts.bytes_in),
        Column::BytesOut => whole(counts.bytes_out),
        Column::FirstByte | Column::Duration => whole(counts.distribution(column).sum()),
        _ => return None,
    })
}

pub(crate) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The key of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// The beginning of the minute or hour in which they began, in milliseconds since the epoch.
    pub(crate) at: i64,
    /// The places of the texts of [`TEXTS`].
    pub(crate) texts: [u32; TEXTS.len()],
    /// The status that was sent; 0: none.
    pub(crate) status: u16,
}

/// Rows of rollups. A key may occur again.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The texts that occur.
    pub(crate) texts: Interner,
    /// The rows.
    pub(crate) rows: Vec<(Key, Counts)>,
}

/// Rows of rollups in which each key occurs once. Keys beyond the limit of a minute count as [`OTHER`].
#[derive(Debug, Default)]
pub(crate) struct Table {
    all: Rows,
    by_key: FastMap<Key, u32>,
    /// How many keys each minute has.
    keys: FastMap<i64, usize>,
    buckets: u64,
    folded: u64,
}

impl Table {
    /// The bytes of a row in memory without its buckets, with its places in both maps.
    const ROW: u64 = (2 * size_of::<(Key, u32)>() + size_of::<(Key, Counts)>()) as u64;

    /// Adds figures to the row of a key. `texts` are those of [`TEXTS`].
    pub(crate) fn add(&mut self, at: i64, texts: [&str; TEXTS.len()], status: u16, counts: &Counts) {
        let key = Key { at, texts: texts.map(|text| self.all.texts.intern(text)), status };
        let place = self.place(key, counts.events);
        let mine = &mut self.all.rows[place].1;
        let before = mine.buckets();
        mine.add(counts);
        self.buckets += (mine.buckets() - before) as u64;
    }

    /// Adds events of which nothing is known but that they ended at about `at`.
    pub(crate) fn add_unknown(&mut self, at: i64, events: u64) {
        if events > 0 {
            let counts = Counts { events, ..Counts::default() };
            self.add(at - at.rem_euclid(MINUTE), [OTHER; TEXTS.len()], 0, &counts);
        }
    }

    /// Adds all rows of others.
    pub(crate) fn merge(&mut self, other: &Rows) {
        self.merge_as(other, |at| at);
    }

    /// Adds all rows of others, each at another time.
    pub(crate) fn merge_as(&mut self, other: &Rows, at: impl Fn(i64) -> i64) {
        for (key, counts) in &other.rows {
            self.add(at(key.at), key.texts.map(|place| other.text(place)), key.status, counts);
        }
    }

    /// The row of a key, or of the key that stands for it where its minute has too many.
    fn place(&mut self, key: Key, events: u64) -> usize {
        if let Some(place) = self.by_key.get(&key) {
            return *place as usize;
        }
        let keys = self.keys.get(&key.at).copied().unwrap_or_default();
        if keys < OWN_KEYS_MAX {
            return self.append(key);
        }
        self.folded += events;
        let other = self.all.texts.intern(OTHER);
        let [kind, class, layer, .., outcome] = key.texts;
        let of_others = Key { texts: [kind, class, layer, other, other, other, outcome], ..key };
        let of_all = Key { texts: [other; TEXTS.len()], status: 0, ..key };
        match (self.by_key.get(&of_others), self.by_key.get(&of_all)) {
            (Some(place), _) => *place as usize,
            (None, _) if keys + 1 < KEYS_MAX => self.append(of_others),
            (None, Some(place)) => *place as usize,
            (None, None) => self.append(of_all),
        }
    }

    fn append(&mut self, key: Key) -> usize {
        let place = self.all.rows.len();
        self.all.rows.push((key, Counts::default()));
        self.by_key.insert(key, place as u32);
        *self.keys.entry(key.at).or_default() += 1;
        place
    }

    /// The rows.
    pub(crate) fn rows(&self) -> &Rows {
        &self.all
    }

    /// The rows, ordered by time, then by texts.
    pub(crate) fn into_sorted(self) -> Rows {
        let Rows { texts, mut rows } = self.all;
        rows.sort_by_cached_key(|(key, _)| (key.at, key.texts.map(|place| &texts.texts()[place as usize]), key.status));
        Rows { texts, rows }
    }

    /// The keys of the minute or hour that begins at `at`.
    pub(crate) fn keys_at(&self, at: i64) -> usize {
        self.keys.get(&at).copied().unwrap_or_default()
    }

    /// The events that were added to rows of [`OTHER`] because their minute had too many keys.
    pub(crate) fn folded(&self) -> u64 {
        self.folded
    }

    /// The bytes in memory, without those of the texts.
    pub(crate) fn bytes(&self) -> u64 {
        self.all.rows.len() as u64 * Self::ROW + self.buckets * super::buckets::Buckets::CELL
    }
}

impl Rows {
    /// The text of a place; empty if there is none.
    pub(crate) fn text(&self, place: u32) -> &str {
        &self.texts.texts()[place as usize]
    }

    /// The first and the last time of a row.
    pub(crate) fn times(&self) -> Option<(i64, i64)> {
        let times = self.rows.iter().map(|(key, _)| key.at);
        Some((times.clone().min()?, times.max()?))
    }
}
