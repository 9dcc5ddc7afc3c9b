//! The caches whose reuse curve tells what another size would change, and the size to advise.

use super::room::Room;
use super::size::round_up;
use crate::reuse::curve::{Curve, Missed};
use crate::signals::caches::CacheSeen;
use crate::signals::seen::Seen;
use crate::signals::window::Window;
use telemetry::CacheName;

/// A cause that costs less in five minutes is not told, in seconds.
pub(super) const LOST_MIN_S: f64 = 5.0;
/// A cause that costs a smaller part of the time of all requests is not told.
pub(super) const LOST_SHARE_MIN: f64 = 0.01;
/// The part of what the largest size saves that the advised size saves.
const KNEE: f64 = 0.98;
/// The part of what nothing uses that one cache may get.
const ROOM_PART: u64 = 2;

/// A cache with a curve, and the setting of its size.
#[derive(Debug)]
pub(super) struct Sized {
    pub(super) cache: CacheName,
    /// One of several tables of that name.
    table: Option<&'static str>,
    pub(super) setting: &'static str,
    pub(super) room: Room,
    /// The plural noun of its entries, for people.
    pub(super) entries: &'static str,
}

const fn of(cache: CacheName, setting: &'static str, room: Room, entries: &'static str) -> Sized {
    Sized { cache, table: None, setting, room, entries }
}

/// Those in memory, and open files.
pub(super) const SIZED: [Sized; 3] = [
    Sized { table: Some("found"), ..of(CacheName::Pages, "server.pages_bytes", Room::Memory, "complete answers") },
    // Those of upstreams are in a table of their own, and no event tells its hits.
    Sized {
        table: Some("published"),
        ..of(CacheName::OpenFiles, "server.open_files", Room::Descriptors, "open files")
    },
    of(CacheName::Folders, "server.folders_bytes", Room::Memory, "names of files in folders"),
];
/// Cached files of upstreams.
pub(super) const CACHED: Sized = of(CacheName::Cached, "store.cached_bytes", Room::Disk, "cached files of upstreams");

/// A cache in a window.
pub(super) struct View<'a> {
    pub(super) counts: CacheSeen,
    pub(super) curve: &'a Curve,
    /// The size of the cache, in the unit of the curve.
    pub(super) size: u64,
    /// The setting.
    pub(super) setting: u64,
    /// The part of the setting for one unit of the curve.
    unit: f64,
}

impl Sized {
    /// The cache in a window. `None`: it has no size, or its setting is unknown.
    pub(super) fn view<'a>(&self, seen: &Seen, window: &'a Window) -> Option<View<'a>> {
        let counts = match self.table {
            Some(which) => window.caches.table(self.cache, which),
            None => window.caches.of(self.cache),
        };
        let curve = window.caches.curve(self.cache)?;
        let setting = seen.facts.setting(self.setting)?.number.filter(|number| *number > 0)?;
        let size = counts.capacity;
        (size > 0).then_some(View { counts, curve, size, setting, unit: setting as f64 / size as f64 })
    }

    /// Whether its curve comes from miniatures.
    pub(super) fn is_simulated(&self) -> bool {
        self.cache != CacheName::Cached
    }

    /// The largest value of the setting for which there is room.
    fn most(&self, view: &View<'_>, seen: &Seen) -> Option<f64> {
        Some(view.setting as f64 + (self.room.unused(seen)? / ROOM_PART) as f64)
    }

    /// The size that saves nearly as much as the largest for which there is room. `None`: no size saves anything.
    pub(super) fn advice(&self, view: &View<'_>, seen: &Seen) -> Option<Advice> {
        let most = self.most(view, seen)?;
        let largest = (most / view.unit) as u64;
        let saved = |to: u64| view.saved_nanos(&view.curve.missed(view.size, to));
        let all = saved(largest);
        let knee = view.curve.sizes().filter(|size| *size > view.size && *size <= largest);
        let size = knee.into_iter().find(|size| saved(*size) >= KNEE * all).unwrap_or(largest);
        let missed = view.curve.missed(view.size, size);
        let setting = round_up(size as f64 * view.unit);
        (all > 0.0 && setting > view.setting).then(|| Advice {
            missed,
            saved_s: view.saved_nanos(&missed) / 1e9,
            setting,
            share: view.curve.share(size),
        })
    }
}

/// The part of the lookups that a size that is enough may lose.
const SHARE_LOST_MAX: f64 = 0.005;

impl View<'_> {
    /// The smallest size of the curve that answers nearly all lookups that the present one answers. `None`: there were none again.
    pub(super) fn enough(&self) -> Option<u64> {
        let share = self.curve.share(self.size);
        self.curve.sizes().find(|size| self.curve.share(*size) >= share - SHARE_LOST_MAX)
    }

    /// What a cache that answers these lookups saves. A size does not help entries that are no longer valid.
    pub(super) fn saved_nanos(&self, missed: &Missed) -> f64 {
        // Where requests tell which these are, the curve has them as misses at every size.
        let stale = (self.counts.stale as f64 - self.curve.stale().lookups).max(0.0);
        let again = self.curve.missed(0, u64::MAX).lookups;
        let valid = if again > 0.0 { 1.0 - (stale / again).min(1.0) } else { 0.0 };
        (missed.nanos - missed.lookups * self.curve.answer_nanos()).max(0.0) * valid
    }

    /// The seconds that this value of the setting would have saved.
    pub(super) fn saved_s(&self, setting: f64) -> f64 {
        let size = (setting / self.unit) as u64;
        if size <= self.size { 0.0 } else { self.saved_nanos(&self.curve.missed(self.size, size)) / 1e9 }
    }

    /// What requests waited for entries that the cache has room for, or had until they changed, and no size helps.
    pub(super) fn lost_in_size(&self) -> (Missed, f64) {
        let mut missed = self.curve.missed(0, self.size);
        missed.add(self.curve.stale());
        let lost = missed.nanos - missed.lookups * self.curve.answer_nanos();
        (missed, lost.max(0.0) / 1e9)
    }

    /// The setting for a size of the curve, not rounded.
    pub(super) fn exact_setting_for(&self, size: u64) -> u64 {
        (size as f64 * self.unit).round() as u64
    }

    /// The setting, multiplied by a power of two.
    pub(super) fn setting_times(&self, power: i32) -> u64 {
        (self.setting as f64 * f64::from(power).exp2()).round() as u64
    }

    /// The size of the curve for a setting.
    pub(super) fn size_of(&self, setting: u64) -> u64 {
        (setting as f64 / self.unit).round() as u64
    }

    /// The setting for a size of the curve.
    pub(super) fn setting_for(&self, size: u64) -> u64 {
        round_up(size as f64 * self.unit)
    }
}

/// A larger size, and what it saves.
#[derive(Debug)]
pub(super) struct Advice {
    /// The lookups that it would have answered.
    pub(super) missed: Missed,
    /// The time that they would have saved, in seconds.
    pub(super) saved_s: f64,
    /// The value of the setting.
    pub(super) setting: u64,
    /// The share of lookups that it would have answered, 0 to 1.
    pub(super) share: f64,
}

/// Whether a loss in the last five minutes is worth telling.
pub(super) fn is_worth(seen: &Seen, lost_s: f64) -> bool {
    lost_s >= LOST_MIN_S && lost_s >= LOST_SHARE_MIN * seen.recent.requests.all.nanos as f64 / 1e9
}
