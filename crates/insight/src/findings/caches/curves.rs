//! What each cache would answer with other sizes: `GET /api/v1/curves`. Data for people and for programs; checks read the curves themselves.

use super::sized::{CACHED, SIZED, Sized, View};
use super::without;
use crate::findings::groups::fact_levels::{FactLevels, fact_levels};
use crate::reuse::curve::Curve;
use crate::reuse::streams::MISSING_PAGES;
use crate::signals::caches::CacheSeen;
use crate::signals::seen::Seen;
use serde::Deserialize;
use serde_json::{Value, json};
use telemetry::{CacheName, Millis, Unit};

/// What a cache would answer with other sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheCurve {
    /// Its name in metrics.
    pub name: &'static str,
    /// The setting of its size.
    pub setting: Option<&'static str>,
    /// The unit of the setting, in the plural.
    pub unit: &'static str,
    /// The present size.
    pub now: CurveNow,
    /// Other sizes, in ascending order, the present one among them. Empty: there is no curve.
    pub sizes: Vec<CurveSize>,
    /// Lookups of the last hour.
    pub lookups: u64,
    /// Lookups that found an entry which had changed, or whose TTL had ended: misses at every size.
    pub stale: u64,
    /// The lookups came since this moment.
    pub since: Millis,
    /// Why there is no curve.
    pub without: Option<&'static str>,
    /// Of the cache `facts`: how many entries it would have at other levels.
    pub levels: Option<FactLevels>,
}

/// A cache with its present size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveNow {
    /// The value of the setting.
    pub size: u64,
    /// The share of the lookups that it answered, 0 to 1.
    pub hit_share: f64,
}

/// A cache with another size.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct CurveSize {
    /// The value of the setting.
    pub size: u64,
    /// The share of the lookups that it would have answered, 0 to 1.
    pub hit_share: f64,
    /// What its entries would take, in bytes; 0 for a number of files.
    pub bytes: u64,
    /// What clients would wait less in an hour than now, in seconds; below 0: longer.
    pub saved_s_per_hour: f64,
}

impl CurveSize {
    /// The cache with this value of its setting, between two of these, which are in ascending order. `None`: they tell nothing about so small or
    /// large a size.
    pub fn between(sizes: &[Self], size: u64) -> Option<Self> {
        let exact = sizes.iter().find(|at| at.size == size);
        let between = || {
            let [low, high] = sizes.windows(2).find_map(|pair| match pair {
                [low, high] if low.size < size && size < high.size => Some([low, high]),
                _ => None,
            })?;
            let ratio = |one: u64, other: u64| (one as f64 / other as f64).ln();
            let part = ratio(size, low.size) / ratio(high.size, low.size);
            let mix = |low: f64, high: f64| low + part * (high - low);
            Some(Self {
                size,
                hit_share: mix(low.hit_share, high.hit_share),
                bytes: mix(low.bytes as f64, high.bytes as f64) as u64,
                saved_s_per_hour: mix(low.saved_s_per_hour, high.saved_s_per_hour),
            })
        };
        exact.copied().or_else(between)
    }
}

impl CacheCurve {
    /// As JSON, as the API gives it.
    pub fn json(&self) -> Value {
        let share = |share: f64| (share * 10_000.0).round() / 10_000.0;
        let size = |at: &CurveSize| {
            json!({
                "size": at.size, "hit_share": share(at.hit_share), "bytes": at.bytes,
                "saved_s_per_hour": (at.saved_s_per_hour * 1000.0).round() / 1000.0,
            })
        };
        json!({
            "name": self.name, "setting": self.setting, "unit": self.unit,
            "now": { "size": self.now.size, "hit_share": share(self.now.hit_share) },
            "sizes": self.sizes.iter().map(size).collect::<Vec<_>>(),
            "lookups": self.lookups, "stale": self.stale, "since": self.since.to_string(), "without": self.without,
            "levels": self.levels.as_ref().map(FactLevels::json),
        })
    }
}

/// One for each cache, from the last hour.
pub(crate) fn curves(seen: &Seen) -> Vec<CacheCurve> {
    CacheName::ALL.iter().map(|name| of(*name, seen)).collect()
}

fn of(name: CacheName, seen: &Seen) -> CacheCurve {
    let counts = seen.hour.caches.of(name);
    let setting = name.setting();
    let number = setting.and_then(|key| seen.facts.setting(key)).and_then(|setting| setting.number).unwrap_or(0);
    let looked = counts.hits + counts.absent + counts.refused + counts.stale;
    let hit_share = if looked > 0 { counts.hits as f64 / looked as f64 } else { 0.0 };
    let since = Millis(seen.now.0.saturating_sub(i64::try_from(seen.hour.length.as_millis()).unwrap_or(i64::MAX)));
    let curve = CacheCurve {
        name: name.as_str(),
        setting,
        unit: name.bound().unit().as_str(),
        now: CurveNow { size: number, hit_share },
        sizes: Vec::new(),
        lookups: looked,
        stale: counts.stale,
        since,
        without: without::how(name).err(),
        levels: (name == CacheName::Facts).then(|| fact_levels(&seen.day.members)),
    };
    let sized = SIZED.iter().chain([&CACHED]).find(|sized| sized.cache == name);
    match sized.and_then(|sized| Some((sized, sized.view(seen, &seen.hour)?))) {
        Some((sized, view)) => with_sizes(curve, name, sized, &view, seen),
        None if sized.is_some() => CacheCurve { without: Some("it is off, or its size is not known yet"), ..curve },
        None => curve,
    }
}

/// The two caches of pages count as one, because one setting governs both.
struct Sum<'a> {
    curve: &'a Curve,
    missing: Option<&'a Curve>,
}

impl Sum<'_> {
    fn of(&self, figure: impl Fn(&Curve) -> f64) -> f64 {
        figure(self.curve) + self.missing.map_or(0.0, figure)
    }

    /// The lookups that a size answers. The cache of missing pages has the same part of every size.
    fn answered(&self, size: u64) -> f64 {
        let answered = |curve: &Curve, size: u64| curve.share(size) * curve.lookups();
        answered(self.curve, size) + self.missing.map_or(0.0, |missing| answered(missing, size / FOUND_PARTS))
    }
}

/// The cache of found pages is so many times as large as that of missing ones.
const FOUND_PARTS: u64 = 15;

fn with_sizes(curve: CacheCurve, name: CacheName, sized: &Sized, view: &View<'_>, seen: &Seen) -> CacheCurve {
    let missing = (name == CacheName::Pages).then(|| &seen.hour.caches.curves[MISSING_PAGES]);
    let sum = Sum { curve: view.curve, missing };
    let lookups = sum.of(Curve::lookups);
    if lookups == 0.0 {
        return CacheCurve { without: Some("there was no lookup in the last hour"), lookups: 0, ..curve };
    }
    let hits = sum.of(Curve::answered);
    let hours = (seen.hour.seconds() / 3600.0).max(1.0 / 3600.0);
    let size = |setting: u64| {
        let size = view.size_of(setting);
        let answered = sum.answered(size);
        CurveSize {
            size: setting,
            hit_share: (answered / lookups).clamp(0.0, 1.0),
            bytes: bytes(&view.counts, name, size),
            saved_s_per_hour: saved_s(view, size) / hours,
        }
    };
    // A curve by distance tells about any size.
    let mut settings: Vec<u64> = match sized.is_simulated() {
        true => view.curve.simulated_sizes().map(|size| view.exact_setting_for(size)).collect(),
        false => (-3..=5).map(|power| view.setting_times(power)).collect(),
    };
    settings.push(view.setting);
    settings.retain(|setting| *setting > 0);
    settings.sort_unstable();
    settings.dedup();
    CacheCurve {
        now: CurveNow { size: view.setting, hit_share: hits / lookups },
        sizes: settings.into_iter().map(size).collect(),
        lookups: lookups as u64,
        stale: view.counts.stale,
        without: None,
        ..curve
    }
}

/// What requests would wait less with this size, in seconds of the window; below 0: longer.
fn saved_s(view: &View<'_>, size: u64) -> f64 {
    if size >= view.size {
        return view.saved_nanos(&view.curve.missed(view.size, size)) / 1e9;
    }
    let curve = view.curve;
    let lost = (curve.share(view.size) - curve.share(size)).max(0.0) * curve.lookups();
    -lost * (curve.all_missed().mean() - curve.answer_nanos()).max(0.0) / 1e9
}

/// What the entries of this size would take, at most.
fn bytes(counts: &CacheSeen, name: CacheName, size: u64) -> u64 {
    let is_full = counts.used as f64 > 0.9 * counts.capacity as f64;
    match name.bound().unit() {
        Unit::Bytes if !is_full && size >= counts.used => counts.used,
        Unit::Bytes => size,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::too_small::tests::pages;
    use super::*;

    fn curve_of_pages(misses: u64, distance: u64) -> CacheCurve {
        let mut seen = pages(50, misses, distance, 5_000_000);
        seen.hour = seen.recent.clone();
        seen.hour.length = std::time::Duration::from_secs(1800);
        let all = curves(&seen);
        assert_eq!(all.len(), CacheName::ALL.len());
        all.into_iter().find(|curve| curve.name == "pages").unwrap()
    }

    #[test]
    fn a_cache_tells_its_hit_share_and_what_is_saved_with_other_sizes() {
        let curve = curve_of_pages(1000, 1 << 20);
        assert_eq!((curve.now, curve.lookups, curve.without), (CurveNow { size: 1 << 20, hit_share: 0.0 }, 1000, None));
        let larger = curve.sizes.last().unwrap();
        assert!((larger.hit_share - 1.0).abs() < 1e-9 && (9.9..10.1).contains(&larger.saved_s_per_hour), "{larger:?}");
        let with = |size| CurveSize::between(&curve.sizes, size);
        assert_eq!((with(larger.size), with(1 << 40)), (Some(*larger), None));
        assert_eq!(curve.json()["sizes"].as_array().unwrap().len(), curve.sizes.len());
    }

    #[test]
    fn a_size_between_two_others_has_a_share_between_theirs() {
        let size = |size: u64, hit_share: f64| CurveSize { size, hit_share, bytes: size, saved_s_per_hour: hit_share };
        let curve = CacheCurve { sizes: vec![size(100, 0.25), size(400, 0.75)], ..curve_of_pages(1000, 1 << 20) };
        let half = CurveSize::between(&curve.sizes, 200).unwrap();
        assert!((half.hit_share - 0.5).abs() < 1e-9 && half.size == 200, "{half:?}");
    }

    #[test]
    fn a_cache_without_a_curve_says_why_and_what_it_answered() {
        let mut seen = pages(50, 1000, 1 << 20, 5_000_000);
        let views = CacheSeen { hits: 30, absent: 10, ..CacheSeen::default() };
        seen.hour.caches.tables.insert((CacheName::Views, "".into()), views);
        for curve in curves(&seen) {
            assert!(curve.without.is_some() && curve.sizes.is_empty(), "{curve:?}");
            if curve.name == "views" {
                assert_eq!((curve.now.hit_share, curve.lookups), (0.75, 40));
            }
        }
    }
}
