//! The counts since the writer came last, as the collector makes them. Nothing is allocated for an event whose key has a row.

use super::counts::Counts;
use super::{KEYS_MAX, MINUTE, OTHER, OWN_KEYS_MAX};
use crate::hash::FastMap;
use crate::interner::Interner;
use crate::texts::Texts;
use telemetry::{Class, Figures, Kind, Layer, Outcome};

/// The most names of repositories. Further ones count as [`OTHER`].
const NAMES_MAX: usize = 16 << 10;
/// The place of [`OTHER`] among the names.
const OTHER_NAME: u32 = 0;
/// The most rows: those of a minute, and one for each further minute of a day in which nobody came.
const ROWS_MAX: usize = KEYS_MAX + 1440;
/// The latest minute that has a date: 9999-12-31T23:59Z.
const LAST: i64 = 253_402_300_799_999 / MINUTE;

/// The counts since the writer came last.
#[derive(Debug)]
pub(super) struct Delta {
    /// The names of repositories.
    names: Interner,
    last_name: u32,
    places: FastMap<Key, u32>,
    /// Rows in use, then rows whose memory waits for the next keys.
    rows: Vec<(Key, Counts)>,
    used: usize,
    /// The row of the last event.
    last: usize,
    /// Events without a row, because there were too many minutes.
    crowded: u64,
    /// Events that were not seen.
    missed: u64,
}

/// The key of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    minute: i64,
    shape: Shape,
}

/// The name of the repository and the figures that have few values, in one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape(u64);

impl Shape {
    /// Of a row for events that found no other place.
    const FOLDED: Shape = Shape(u64::MAX);
    const NONE: u8 = 0xff;
    const JOB: u8 = 0x80;

    #[inline]
    fn of(figures: &Figures, name: u32) -> Self {
        let class = figures.class.map_or(Self::NONE, |class| class as u8);
        let outcome = figures.outcome.map_or(Self::NONE, |outcome| outcome as u8);
        let layer = figures.layer as u8 | if figures.kind == Kind::Job { Self::JOB } else { 0 };
        let [high, low] = figures.status.to_be_bytes();
        let [.., a, b, c] = name.to_be_bytes();
        Self(u64::from_be_bytes([a, b, c, high, low, layer, class, outcome]))
    }

    fn without_name(self) -> Self {
        Self(self.0 & 0x00ff_ffff_ffff)
    }

    fn name(self) -> usize {
        (self.0 >> 40) as usize
    }

    /// Kind, class, layer and outcome as texts, and the status. `None` for [`Shape::FOLDED`].
    pub(super) fn figures(self) -> Option<([&'static str; 4], u16)> {
        if self == Self::FOLDED {
            return None;
        }
        let [.., high, low, layer, class, outcome] = self.0.to_be_bytes();
        let kind = if layer & Self::JOB == 0 { Kind::Request } else { Kind::Job };
        let layer = Layer::ALL.get(usize::from(layer & !Self::JOB)).map_or("", |layer| layer.as_str());
        let class = Class::ALL.get(usize::from(class)).map_or("", |class| class.as_str());
        let outcome = Outcome::ALL.get(usize::from(outcome)).map_or("", |outcome| outcome.as_str());
        Some(([kind.as_str(), class, layer, outcome], u16::from_be_bytes([high, low])))
    }
}

impl Default for Delta {
    fn default() -> Self {
        Self {
            names: Interner::from(Texts::from_iter([OTHER])),
            last_name: OTHER_NAME,
            places: FastMap::default(),
            rows: Vec::new(),
            used: 0,
            last: 0,
            crowded: 0,
            missed: 0,
        }
    }
}

impl Delta {
    /// Counts an event.
    #[inline]
    pub(super) fn see(&mut self, figures: &Figures, repository: &str) {
        if &self.names.texts()[self.last_name as usize] != repository {
            self.last_name = self.name(repository);
        }
        let minute = (figures.at.0 / MINUTE).clamp(0, LAST);
        let key = Key { minute, shape: Shape::of(figures, self.last_name) };
        if self.last >= self.used || self.rows[self.last].0 != key {
            match self.place(key) {
                Some(place) => self.last = place,
                None => return self.crowded += 1,
            }
        }
        let counts = &mut self.rows[self.last].1;
        counts.events += 1;
        counts.bytes_in = counts.bytes_in.saturating_add(figures.bytes_in);
        counts.bytes_out = counts.bytes_out.saturating_add(figures.bytes_out);
        counts.first_byte.record(figures.first_byte / 1000);
        counts.duration.record(figures.duration / 1000);
    }

    /// Counts events that ended and were not seen.
    pub(super) fn miss(&mut self, events: u64) {
        self.missed += events;
    }

    fn name(&mut self, repository: &str) -> u32 {
        match self.names.texts().len() < NAMES_MAX {
            true => self.names.intern(repository),
            false => self.names.find(repository).unwrap_or(OTHER_NAME),
        }
    }

    /// The row of a key, or of the key that stands for it where there are too many.
    fn place(&mut self, key: Key) -> Option<usize> {
        if let Some(place) = self.places.get(&key) {
            return Some(*place as usize);
        }
        let of_others = Key { shape: key.shape.without_name(), ..key };
        match self.used {
            used if used < OWN_KEYS_MAX || (key == of_others && used < KEYS_MAX) => Some(self.append(key)),
            used if used < KEYS_MAX => self.place(of_others),
            _ if key.shape != Shape::FOLDED => match self.places.get(&of_others) {
                Some(place) => Some(*place as usize),
                None => self.place(Key { shape: Shape::FOLDED, ..key }),
            },
            used => (used < ROWS_MAX).then(|| self.append(key)),
        }
    }

    fn append(&mut self, key: Key) -> usize {
        let place = self.used;
        match self.rows.get_mut(place) {
            Some((old, counts)) => {
                *old = key;
                counts.clear();
            }
            None => self.rows.push((key, Counts::default())),
        }
        self.places.insert(key, place as u32);
        self.used += 1;
        place
    }

    /// Whether nothing was counted.
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0 && self.crowded == 0 && self.missed == 0
    }

    /// The events that found no row, because there were too many minutes.
    pub(super) fn crowded(&self) -> u64 {
        self.crowded
    }

    /// The events that were not seen.
    pub(super) fn missed(&self) -> u64 {
        self.missed
    }

    /// Each row: the beginning of its minute in milliseconds, its shape, the name of its repository, its figures.
    pub(super) fn rows(&self) -> impl Iterator<Item = (i64, Shape, &str, &Counts)> {
        self.rows[..self.used].iter().map(|(key, counts)| {
            let name = self.names.texts().get(key.shape.name()).unwrap_or(OTHER);
            (key.minute * MINUTE, key.shape, name, counts)
        })
    }

    /// Forgets the counts. The memory of a usual number of rows is kept for the next ones.
    pub(super) fn clear(&mut self) {
        const KEPT: usize = 512;
        if self.used > KEPT || self.names.texts().len() == NAMES_MAX {
            *self = Self::default();
        }
        self.places.clear();
        (self.used, self.last, self.crowded, self.missed) = (0, 0, 0, 0);
    }
}
