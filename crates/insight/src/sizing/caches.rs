//! The rows of caches: from their reuse curves of the last hour.

use super::period::Period;
use super::row::SizingRow;
use crate::findings::caches::needed::CacheSize;
use crate::findings::caches::size::show;
use serde_json::json;

/// Fewer lookups in an hour say nothing.
const LOOKUPS_MIN: f64 = 1000.0;

/// The row of a cache. More of the same traffic looks for the same entries more often, so it needs no larger one.
pub(super) fn row(cache: &CacheSize, period: &Period<'_>) -> SizingRow {
    let subject = format!("cache:{}", cache.name);
    let unknown = |why| {
        let row = SizingRow::unknown(subject.clone(), Some(cache.setting), cache.unit, why);
        SizingRow { now: Some(cache.now), ..row }
    };
    if !cache.is_warm || period.factor().is_none() {
        return unknown("it needs an hour of traffic");
    }
    if cache.lookups < LOOKUPS_MIN {
        return unknown("it needs a thousand lookups in an hour");
    }
    let size = if cache.unit == "bytes" { show(cache.needed) } else { cache.needed.to_string() };
    SizingRow {
        now: Some(cache.now),
        needed: Some(cache.needed),
        needed_at: Some(cache.needed),
        why: format!(
            "by the reuse curve of {:.0} lookups in the last hour, {size} answer {:.1} % of them, and the present size {:.1} %; the same traffic \
             twice looks for the same entries",
            cache.lookups,
            cache.share * 100.0,
            cache.share_now * 100.0
        ),
        confidence: 0.7,
        data: json!({ "lookups": cache.lookups.round(), "share": cache.share, "share_now": cache.share_now, "used": cache.used }),
        costs: true,
        ..unknown("")
    }
    .judged()
}
