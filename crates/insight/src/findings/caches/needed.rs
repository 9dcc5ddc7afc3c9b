//! For each cache with a reuse curve the size that would be enough.

use super::sized::{CACHED, SIZED, Sized};
use crate::signals::seen::Seen;
use std::time::Duration;

/// The curves are of an hour.
const WARM: Duration = Duration::from_secs(3600);

/// A cache, and the size that would be enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CacheSize {
    pub(crate) name: &'static str,
    pub(crate) setting: &'static str,
    /// The unit of the setting.
    pub(crate) unit: &'static str,
    /// The setting.
    pub(crate) now: u64,
    /// The smallest value of it with nearly the share of the present one; or a larger one, where that is worth the memory.
    pub(crate) needed: u64,
    /// What its entries take.
    pub(crate) used: u64,
    /// The lookups of the last hour.
    pub(crate) lookups: f64,
    /// The share of these that the needed size answers, and that of the present one, 0 to 1.
    pub(crate) share: f64,
    pub(crate) share_now: f64,
    /// The curve is of an hour.
    pub(crate) is_warm: bool,
}

/// All caches with a curve whose size is a setting.
pub(crate) fn cache_sizes(seen: &Seen) -> Vec<CacheSize> {
    SIZED.iter().chain([&CACHED]).filter_map(|sized| of(seen, sized)).collect()
}

fn of(seen: &Seen, sized: &Sized) -> Option<CacheSize> {
    let view = sized.view(seen, &seen.hour)?;
    let advice = sized.advice(&view, seen).filter(|advice| super::sized::is_worth(seen, advice.saved_s / 12.0));
    let enough = view.enough().unwrap_or(0);
    let (needed, share) = match advice {
        Some(advice) => (advice.setting, advice.share),
        None => (view.setting_for(enough).min(view.setting), view.curve.share(enough)),
    };
    Some(CacheSize {
        name: sized.cache.as_str(),
        setting: sized.setting,
        unit: if sized.setting.ends_with("_bytes") { "bytes" } else { "files" },
        now: view.setting,
        needed,
        used: view.counts.used,
        lookups: view.curve.lookups(),
        share,
        share_now: view.curve.share(view.size),
        is_warm: seen.uptime >= WARM,
    })
}

#[cfg(test)]
mod tests {
    use super::super::too_small::tests::pages;
    use super::*;
    use crate::signals::facts::Facts;
    use std::sync::Arc;

    #[test]
    fn a_cache_whose_lookups_need_little_of_it_needs_little() {
        let mut seen = pages(0, 5000, 4 << 20, 1000);
        let Facts { settings, .. } = Arc::make_mut(&mut seen.facts);
        settings[0].number = Some(100 << 20);
        seen.recent.caches.tables.values_mut().for_each(|table| (table.capacity, table.used) = (94 << 20, 90 << 20));
        (seen.hour, seen.uptime) = (seen.recent.clone(), WARM);
        let sizes = cache_sizes(&seen);
        let pages = sizes.iter().find(|size| size.name == "pages").unwrap();
        assert!((4 << 20..16 << 20).contains(&pages.needed) && pages.is_warm, "{pages:?}");
        assert!(pages.share >= pages.share_now - 0.005 && pages.now == 100 << 20, "{pages:?}");
    }
}
