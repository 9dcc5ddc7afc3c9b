//! Every operation and every bound that is declared is recorded or filled by shipped code. A name that nothing records would
//! promise a figure that never moves.

use super::{Source, code, nothing_wrong, root};
use daylight::config::{self, Environment, Machine};
use std::collections::BTreeSet;
use std::fs;
use telemetry::{BoundName, CacheName, Op, PoolName};

/// Whether code names `path` as a value. Patterns of a `match` record nothing, and neither do tests and comments, which are left out.
fn recorded(path: &str, declared_in: &str, code: &[Source]) -> bool {
    let value = |rest: &str| {
        let whole = !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        let after = rest.trim_start();
        whole && !after.starts_with("=>") && !after.starts_with('|')
    };
    let others = code.iter().filter(|source| source.path != declared_in);
    others
        .into_iter()
        .any(|source| source.text.match_indices(path).any(|(at, _)| value(&source.text[at + path.len()..])))
}

fn unrecorded<T: std::fmt::Debug>(kind: &str, all: &[T], declared_in: &str, code: &[Source]) -> Vec<String> {
    let names = all.iter().map(|each| format!("{kind}::{each:?}"));
    let missing = names.filter(|name| !recorded(name, declared_in, code));
    missing.map(|name| format!("{name} is declared and no shipped code records it")).collect()
}

#[test]
fn every_operation_every_bound_and_every_pool_is_recorded_by_shipped_code() {
    let code = code();
    let mut wrong = unrecorded("Op", Op::ALL, "crates/telemetry/src/ops/mod.rs", &code);
    wrong.extend(unrecorded("BoundName", BoundName::ALL, "crates/telemetry/src/bounds/mod.rs", &code));
    wrong.extend(unrecorded("PoolName", PoolName::ALL, "crates/telemetry/src/threads/pool_threads.rs", &code));
    nothing_wrong(wrong);
}

#[test]
fn every_setting_that_governs_a_bound_a_cache_or_a_pool_is_a_key() {
    let (_, loaded) = config::load(None, &Environment::default(), &[], Machine::here()).unwrap();
    let keys: BTreeSet<&str> =
        loaded.entries.iter().map(|entry| entry.key).chain(config::APP_KEYS.iter().copied()).collect();
    let bounds = BoundName::ALL.iter().map(|bound| (bound.as_str(), bound.setting()));
    let caches = CacheName::ALL.iter().map(|cache| (cache.as_str(), cache.setting()));
    let pools = PoolName::ALL.iter().map(|pool| (pool.as_str(), pool.setting()));
    let named = bounds.chain(caches).chain(pools).filter_map(|(name, setting)| Some((name, setting?)));
    // The settings of an application are keys of a table.
    let of_apps = fs::read_to_string(root().join("crates/daylight/src/config/app_table.rs")).unwrap();
    let is_key = |setting: &str| keys.contains(setting) || of_apps.contains(&format!("    \"{setting}\",\n"));
    let wrong = named.filter(|(_, setting)| !is_key(setting));
    nothing_wrong(
        wrong.map(|(name, setting)| format!("`{name}` names the setting `{setting}`, which does not exist")).collect(),
    );
}

/// Types that end in `Cache` and count in another file, with that file.
const COUNTED_ELSEWHERE: &[(&str, &str)] = &[
    // The connection and the files of the cache database.
    ("crates/store/src/cache/database.rs", "crates/store/src/cache/keeping.rs"),
    ("crates/store/src/cache/file_cache.rs", "crates/store/src/cache/keeping.rs"),
    // Copies of caches: curves count what they would have answered.
    ("crates/insight/src/reuse/miniature.rs", "crates/insight/src/reuse/streams.rs"),
    ("crates/insight/src/reuse/policy.rs", "crates/insight/src/reuse/streams.rs"),
    // The figures of stored responses, for a page.
    ("crates/web/src/apps.rs", "crates/apps/src/cache/store.rs"),
];

/// Whether a file makes a cache: it has a type of that name, or uses the crate for caches.
fn makes_a_cache(text: &str) -> bool {
    let is_name =
        |word: &str| word.split(|c: char| !c.is_alphanumeric()).next().is_some_and(|name| name.ends_with("Cache"));
    text.contains("quick_cache::sync::") || text.split("struct ").skip(1).any(is_name)
}

/// Whether a file counts the lookups of a cache, or builds on a type that does.
fn counts(text: &str) -> bool {
    [".cache()", "BoundedCache", "StampedCache"].iter().any(|word| text.contains(word))
}

#[test]
fn every_cache_counts_its_lookups() {
    let code = code();
    let counted = |path: &str| code.iter().any(|source| source.path == path && counts(&source.text));
    let silent = code.iter().filter(|source| makes_a_cache(&source.text)).filter(|source| {
        let elsewhere = COUNTED_ELSEWHERE.iter().find(|(path, _)| *path == source.path);
        !counted(elsewhere.map_or(&source.path, |(_, other)| other))
    });
    nothing_wrong(silent.map(|source| format!("{} has a cache and does not count its lookups", source.path)).collect());
}

#[test]
fn a_table_with_the_crate_for_caches_is_a_cache_and_a_setting_of_that_name_is_none() {
    for text in ["use quick_cache::sync::Cache;", "pub struct LineCache<K>(K);", "struct LineCache {"] {
        assert!(makes_a_cache(text), "{text}");
    }
    for text in ["struct Line;", "struct CacheInput {", "let cache = 1;"] {
        assert!(!makes_a_cache(text), "{text}");
    }
    assert!(counts("self.bound.cache().hit()") && !counts("self.hits += 1"));
}

#[test]
fn a_name_in_a_pattern_or_in_part_of_another_name_is_not_recorded() {
    let code = |text: &str| [Source { path: "a.rs".into(), text: text.into() }];
    for text in ["event.add(Op::Hash, 1)", "(Op::Hash)", "Op::Hash;"] {
        assert!(recorded("Op::Hash", "op.rs", &code(text)), "{text}");
    }
    for text in ["Op::Hash => 1", "Op::Hash | Op::Route => 1", "Op::Hashed", "Op::Route"] {
        assert!(!recorded("Op::Hash", "op.rs", &code(text)), "{text}");
    }
}
