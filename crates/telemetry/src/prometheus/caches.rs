//! The families of caches. Tables of one cache, such as found and missing pages, are added up.

use super::page::Page;
use crate::{Bound, CacheName, Miss, Unit};
use std::sync::Arc;

/// The caches that have a figure.
type Kinds = fn(CacheName) -> bool;

/// `page_hits`: requests that a page answered, which their events count.
pub(super) fn write(page: &mut Page, bounds: &[Arc<Bound>], page_hits: u64) {
    let caches: Vec<(CacheName, Vec<&Bound>)> = CacheName::ALL
        .iter()
        .map(|cache| {
            (*cache, bounds.iter().map(|bound| &**bound).filter(|bound| bound.name() == cache.bound()).collect())
        })
        .filter(|(_, tables): &(_, Vec<_>)| !tables.is_empty())
        .collect();
    let sum = |tables: &[&Bound], read: fn(&Bound) -> u64| tables.iter().map(|table| read(table)).sum::<u64>();
    let doc = "1; the setting that governs the size of a cache";
    let mut family = page.family("cache_info", "gauge", doc);
    for (cache, _) in &caches {
        family.sample(&[("cache", cache.as_str()), ("setting", cache.setting().unwrap_or(""))], 1);
    }
    let mut family = page.family("cache_hits_total", "counter", "Lookups in a cache that found a valid entry");
    for (cache, tables) in &caches {
        let hits = if *cache == CacheName::Pages { page_hits } else { sum(tables, |table| table.cache().hits()) };
        family.sample(&[("cache", cache.as_str())], hits);
    }
    let doc = "Lookups in a cache that found none: absent (never made, or evicted), refused (too large, or not admitted), stale";
    let mut family = page.family("cache_misses_total", "counter", doc);
    for (cache, tables) in &caches {
        for kind in Miss::ALL {
            let misses: u64 = tables.iter().map(|table| table.cache().misses(*kind)).sum();
            family.sample(&[("cache", cache.as_str()), ("kind", kind.as_str())], misses);
        }
    }
    let mut each = |name: &str, kind: &str, doc: &str, read: fn(&Bound) -> u64, of: Kinds| {
        let mut family = page.family(name, kind, doc);
        for (cache, tables) in caches.iter().filter(|(cache, _)| of(*cache)) {
            family.sample(&[("cache", cache.as_str())], sum(tables, read));
        }
    };
    let all: Kinds = |_| true;
    let in_bytes: Kinds = |cache| cache.bound().unit() == Unit::Bytes;
    each("cache_inserts_total", "counter", "Entries that were stored in a cache", |table| table.cache().inserts(), all);
    let doc = "Entries of a cache that made room for others";
    each("cache_evictions_total", "counter", doc, |table| table.cache().evictions(), all);
    each("cache_bytes", "gauge", "Bytes that the entries of a cache take", Bound::used, in_bytes);
    // Counting the rows of facts would take as long as reading them.
    let counted: Kinds = |cache| cache != CacheName::Facts;
    each("cache_entries", "gauge", "Entries of a cache", |table| table.cache().entries(), counted);
}
