//! Which caches have a curve, and how it is made; and why the others have none: one table of all caches.

use telemetry::CacheName;

/// The keys of the lookups are in no event.
const NO_KEYS: &str = "no event has the keys of its lookups: a request looks in it on the way to its answer";
/// The cache belongs to an application.
const APPS: &str = "the rules of the application decide what it keeps and for how long, and no event tells them";

/// How the curve of a cache is made.
pub(super) fn how(cache: CacheName) -> Result<&'static str, &'static str> {
    match cache {
        CacheName::Pages => Ok(
            "by copies: found and missing pages apart, a page is admitted at once while half of the space is free, else on its second request",
        ),
        CacheName::OpenFiles => Ok(
            "by copies: large files of hosted repositories; those of upstreams are in a second table of the same size, and no event tells its hits",
        ),
        CacheName::Folders => Ok("by copies"),
        CacheName::Cached => {
            Ok("by distances: the least recently used file is evicted first, and its last use is noted once in an hour")
        }
        CacheName::AppCache | CacheName::AppPages => Err(APPS),
        CacheName::Indexes => Err("it has one entry for each index, and is meant to have room for all of them"),
        CacheName::UpstreamIndexes
        | CacheName::Dependencies
        | CacheName::Views
        | CacheName::Packages
        | CacheName::Heads
        | CacheName::KnownFiles
        | CacheName::KnownFolders
        | CacheName::UpstreamPrefixes => Err(NO_KEYS),
        CacheName::Facts => Err(
            "a fact ends with its TTL, and an evicted one is asked for again like an ended one; `levels` has the entries at other levels",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reuse::streams::CURVES;

    #[test]
    fn the_page_about_findings_has_the_table_of_all_caches() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md")).unwrap();
        let (_, curves) = page.split_once("\n## Other sizes of caches\n").unwrap();
        let curves = curves.split("\n## ").next().unwrap();
        let told: Vec<&str> = curves.lines().filter(|line| line.starts_with("| `")).collect();
        let row = |cache: &CacheName| {
            let text = how(*cache).map_or_else(|why| format!("no: {why}"), |how| format!("yes, {how}"));
            format!("| `{}` | {text} |", cache.as_str())
        };
        let rows: Vec<String> = CacheName::ALL.iter().map(row).collect();
        assert_eq!(told, rows, "docs/findings.md must have these rows:\n{}", rows.join("\n"));
    }

    #[test]
    fn the_caches_that_have_a_curve_are_those_whose_lookups_are_followed() {
        CacheName::ALL.iter().for_each(|cache| assert_eq!(how(*cache).is_ok(), CURVES.contains(cache), "{cache:?}"));
    }
}
