//! The cache compared with a model, its bounds, and its behaviour when files are lost.

use super::*;
use crate::cache::weight::weight;
use crate::cache::{Arrival, Arrived, CacheBounds, CacheInput, FileCache, has_digest};
use crate::disk::RealDisk;
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use telemetry::{Bound, BoundName, Log};

const A: Origin = Origin { repository: RepositoryId(1), urls: 7 };
const B: Origin = Origin { repository: RepositoryId(2), urls: 7 };
/// The weight of a small file.
const ONE: u64 = 4096 + 2048;

pub(crate) fn open(folder: &Path, max_bytes: u64, boot: i64) -> Cache {
    let file_cache = FileCache::new(Arc::new(RealDisk), folder.join("cached"), boot);
    let files = Bound::new(BoundName::Cached, "", max_bytes);
    let bounds = CacheBounds { files, presence: Bound::new(BoundName::Facts, "", 5 * 160), folders_bytes: 1 << 20 };
    Cache::open(&folder.join("cache.sqlite"), None, file_cache, bounds, Arc::default(), Arc::default(), Log::silent())
        .unwrap()
}

fn file(bytes: &[u8], at: i64) -> CachedFile {
    let at = Millis(at);
    CachedFile {
        hashes: Hashes::of(bytes),
        validator: Some("\"x\"".into()),
        modified: None,
        first_seen: at,
        fetched: at,
        checked: at,
        verified: Some(true),
    }
}

pub(crate) fn keep(cache: &mut Cache, id: Origin, path: &str, bytes: &[u8], at: i64) {
    cache.keep(arrival(id, path, bytes, at, None)).unwrap();
}

pub(crate) fn arrival(of: Origin, path: &str, bytes: &[u8], at: i64, max_bytes: Option<u64>) -> Arrival {
    let input = CacheInput::Bytes(Bytes::copy_from_slice(bytes));
    Arrival { of, path: path.into(), what: Arrived::File { known: Arc::new(file(bytes, at)), input, max_bytes } }
}

pub(crate) fn bytes(cache: &mut Cache, id: Origin, path: &str) -> Option<Vec<u8>> {
    match cache.lookup(id, path, Millis(0)).unwrap()? {
        Lookup::Found(CachedPath::File(known, Held::Bytes(bytes))) => {
            assert_eq!(known.hashes, Hashes::of(&bytes));
            Some(bytes.to_vec())
        }
        _ => None,
    }
}

/// The number of files, in the database and outside of it.
pub(crate) fn on_disk(folder: &Path) -> usize {
    in_database(folder) + in_files(folder)
}

fn in_database(folder: &Path) -> usize {
    let database = rusqlite::Connection::open(folder.join("cache.sqlite")).unwrap();
    database.query_row("SELECT count(*) FROM small", [], |row| row.get::<_, isize>(0)).unwrap().cast_unsigned()
}

fn in_files(folder: &Path) -> usize {
    let below = |folder: std::path::PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    below(folder.join("cached")).flat_map(below).flat_map(below).flat_map(below).count()
}

#[test]
fn a_kept_file_is_found_after_a_restart_and_a_newer_one_replaces_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    keep(&mut cache, A, "a/b", b"one", 1);
    keep(&mut cache, B, "a/b", b"one", 1);
    drop(cache);
    let mut cache = open(folder.path(), u64::MAX, 1);
    assert_eq!(bytes(&mut cache, A, "a/b").unwrap(), b"one");
    assert_eq!((on_disk(folder.path()), cache.bounds.files.used()), (1, 2 * ONE), "the same bytes are stored once");
    keep(&mut cache, A, "a/b", b"other", 2);
    assert_eq!(bytes(&mut cache, A, "a/b").unwrap(), b"other");
    assert_eq!(bytes(&mut cache, B, "a/b").unwrap(), b"one");
    keep(&mut cache, B, "a/b", b"other", 2);
    assert_eq!((on_disk(folder.path()), cache.bounds.files.used()), (1, 2 * ONE));
}

#[test]
fn a_path_is_missing_until_its_time_or_until_a_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    keep(&mut cache, A, "a", b"one", 1);
    cache.record_missing(A, "a", Millis(1), Millis(9), true).unwrap();
    cache.record_missing(A, "b", Millis(1), Millis(5), true).unwrap();
    let recalled = cache.lookup(A, "a", Millis(1)).unwrap();
    assert!(matches!(recalled, Some(Lookup::Found(CachedPath::MissingUntil(Millis(9))))));
    assert_eq!(on_disk(folder.path()), 0);
    let listed = |cache: &mut Cache, now| cache.missing(A, "", "", Millis(now), 9).unwrap().paths;
    assert_eq!(listed(&mut cache, 5), [("a".to_owned(), Millis(9))]);
    keep(&mut cache, A, "a", b"two", 1);
    assert_eq!(bytes(&mut cache, A, "a").unwrap(), b"two");
    assert!(cache.forget(A, "b").unwrap() && !cache.forget(A, "b").unwrap());
    assert!(listed(&mut cache, 0).is_empty());
}

#[test]
fn the_least_recently_used_file_is_evicted_first_of_a_repository_and_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), 4 * ONE, 1);
    let old = |cache: &mut Cache, id, path: &str, at| keep(cache, id, path, path.repeat(10).as_bytes(), at);
    old(&mut cache, A, "a", 1);
    old(&mut cache, B, "b", 2);
    old(&mut cache, A, "c", 3);
    old(&mut cache, A, "x", 3);
    old(&mut cache, A, "y", 3);
    assert_eq!(bytes(&mut cache, A, "a"), None, "four fit");
    assert!(bytes(&mut cache, B, "b").is_some() && bytes(&mut cache, A, "c").is_some());
    let long_after = Millis(4 + USE_INTERVAL);
    for (of, path) in [(B, "b"), (A, "x"), (A, "y")] {
        cache.lookup(of, path, long_after).unwrap();
    }
    old(&mut cache, A, "d", 4);
    assert_eq!(
        (bytes(&mut cache, A, "c"), cache.bounds.files.used()),
        (None, 4 * ONE),
        "it is the least recently used"
    );
    let tight = |cache: &mut Cache, path: &str| {
        cache.keep(arrival(A, path, path.repeat(10).as_bytes(), 9, Some(4 * ONE))).unwrap();
    };
    tight(&mut cache, "e");
    assert!(bytes(&mut cache, A, "d").is_none() && bytes(&mut cache, B, "b").is_some());
    assert_eq!(on_disk(folder.path()), 4);
}

#[test]
fn a_file_weighs_the_blocks_that_it_takes_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    for at in 0..100 {
        keep(&mut cache, A, &at.to_string(), &[at], 1);
    }
    assert_eq!(cache.bounds.files.used(), 100 * ONE);
    keep(&mut cache, A, "0", &[7; 4097], 1);
    assert_eq!(cache.bounds.files.used(), 101 * ONE - 2048);
}

#[test]
fn one_large_file_does_not_evict_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), 8 * ONE, 1);
    let large = vec![1; 3 * ONE as usize];
    keep(&mut cache, A, "large", &large, 1);
    assert!(cache.lookup(A, "large", Millis(1)).unwrap().is_some(), "there was space");
    for path in ["a", "b", "c", "d"] {
        keep(&mut cache, A, path, path.as_bytes(), 2);
    }
    keep(&mut cache, A, "larger", &[2; 4 * ONE as usize], 3);
    assert!(cache.lookup(A, "larger", Millis(3)).unwrap().is_none());
    for path in ["a", "b", "c", "d"] {
        assert_eq!(bytes(&mut cache, A, path).unwrap(), path.as_bytes());
    }
    assert_eq!((on_disk(folder.path()), cache.bounds.files.rejected()), (5, 1));
    // An outdated file is removed even if the new one is not cached.
    keep(&mut cache, A, "a", &[3; 4 * ONE as usize], 4);
    assert!(cache.lookup(A, "a", Millis(4)).unwrap().is_none());
}

/// A file that is too large for the database.
fn large(of: u8) -> Vec<u8> {
    vec![of; SMALL as usize + 1]
}

#[test]
#[expect(clippy::disallowed_methods, reason = "damage")]
fn a_lost_or_truncated_file_is_forgotten_and_one_of_an_earlier_boot_is_unverified() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    for (path, of) in [("lost", 1), ("cut", 2), ("changed", 3)] {
        keep(&mut cache, A, path, &large(of), 1);
    }
    let place = |cache: &Cache, of| cache.file_cache.path(&Hashes::of(&large(of)).sha256);
    std::fs::remove_file(place(&cache, 1)).unwrap();
    std::fs::write(place(&cache, 2), "b").unwrap();
    std::fs::write(place(&cache, 3), large(4)).unwrap();
    for path in ["lost", "cut"] {
        assert!(cache.lookup(A, path, Millis(0)).unwrap().is_none(), "{path}");
    }
    keep(&mut cache, A, "good", &large(5), 1);
    assert_eq!((in_files(folder.path()), cache.bounds.files.used()), (2, 2 * weight(SMALL + 1)));
    drop(cache);
    let mut cache = open(folder.path(), u64::MAX, 2);
    for (path, good) in [("changed", false), ("good", true)] {
        let Some(Lookup::Unverified(mut unverified)) = cache.lookup(A, path, Millis(1)).unwrap() else {
            panic!("{path}")
        };
        assert_eq!(has_digest(&mut unverified.file, &unverified.known.hashes.sha256), good, "{path}");
    }
    cache.mark_verified(A, "good").unwrap();
    cache.last_verified.record(&Hashes::of(&large(5)).sha256, Millis(1));
    let found = cache.lookup(A, "good", Millis(1)).unwrap();
    assert!(matches!(found, Some(Lookup::Found(CachedPath::File(_, Held::File(_))))));
}

#[test]
fn a_small_file_is_verified_at_its_first_use_and_forgotten_where_it_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    for path in ["lost", "changed", "good"] {
        keep(&mut cache, A, path, path.as_bytes(), 1);
    }
    keep(&mut cache, A, "limit", &vec![7; SMALL as usize], 1);
    assert_eq!((in_database(folder.path()), in_files(folder.path())), (4, 0));
    drop(cache);
    let mut cache = open(folder.path(), u64::MAX, 2);
    let named = |name: &str| Hashes::of(name.as_bytes()).sha256.0;
    cache.connection.execute("DELETE FROM small WHERE sha256 = ?", [named("lost")]).unwrap();
    cache.connection.execute("UPDATE small SET bytes = x'00' WHERE sha256 = ?", [named("changed")]).unwrap();
    assert!(cache.lookup(A, "lost", Millis(1)).unwrap().is_none());
    assert!(cache.lookup(A, "changed", Millis(1)).unwrap().is_none(), "it has another size");
    keep(&mut cache, A, "changed", b"changed", 1);
    for (path, other) in [("changed", "chanced"), ("good", "goad")] {
        let values = rusqlite::params![other.as_bytes(), named(path)];
        cache.connection.execute("UPDATE small SET bytes = ? WHERE sha256 = ?", values).unwrap();
    }
    cache.last_verified = Arc::default();
    assert!(matches!(cache.lookup(A, "changed", Millis(1)).unwrap(), Some(Lookup::Damaged(_))));
    assert!(cache.lookup(A, "changed", Millis(1)).unwrap().is_none());
    keep(&mut cache, A, "good", b"good", 1);
    assert_eq!(bytes(&mut cache, A, "good").unwrap(), b"good", "the new bytes replace the damaged ones");
}

/// A cache as Daylight 0.1.0 wrote it: it has no table of small files, and all bytes are in files.
#[test]
#[expect(clippy::disallowed_methods, reason = "files of an earlier version")]
fn a_cache_of_the_earlier_form_is_read_in_place_and_its_files_go_with_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    for (path, text) in [("a", "one"), ("b", "two"), ("c", "one"), ("d", "changed")] {
        keep(&mut cache, A, path, text.as_bytes(), 1);
        let file = cache.file_cache.path(&Hashes::of(text.as_bytes()).sha256);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, if text == "changed" { "chanced" } else { text }).unwrap();
    }
    keep(&mut cache, A, "large", &large(1), 1);
    cache.connection.execute_batch("DROP TABLE small; PRAGMA user_version = 4").unwrap();
    drop(cache);
    let mut cache = open(folder.path(), u64::MAX, 2);
    assert_eq!((in_database(folder.path()), in_files(folder.path())), (0, 4));
    for (path, text) in [("a", "one"), ("b", "two"), ("c", "one")] {
        assert_eq!(bytes(&mut cache, A, path).unwrap(), text.as_bytes(), "{path}");
    }
    assert!(cache.lookup(A, "d", Millis(0)).unwrap().is_none(), "it was lost when the machine stopped");
    assert!(matches!(cache.lookup(A, "large", Millis(0)).unwrap(), Some(Lookup::Unverified(_))));
    keep(&mut cache, B, "c", b"one", 2);
    keep(&mut cache, A, "e", b"new", 2);
    assert_eq!((in_database(folder.path()), in_files(folder.path())), (2, 3));
    for (of, path) in [(A, "a"), (A, "c"), (B, "c"), (A, "b"), (A, "e"), (A, "large")] {
        assert!(cache.forget(of, path).unwrap(), "{path}");
    }
    let left = [A, B].map(|of| cache.holdings.cached(of).files);
    assert_eq!((on_disk(folder.path()), left), (0, [0, 0]));
}

#[test]
fn space_of_removed_small_files_returns_to_the_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let paths: Vec<String> = (0..200).map(|number| number.to_string()).collect();
    for (number, path) in paths.iter().enumerate() {
        keep(&mut cache, A, path, &vec![number as u8; SMALL as usize], 1);
    }
    let pages =
        |cache: &Cache| -> i64 { cache.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap() };
    let before = pages(&cache);
    for path in &paths {
        cache.forget(A, path).unwrap();
    }
    assert!(before > 3_000 && pages(&cache) < 1_200, "{before}, {}", pages(&cache));
}

#[test]
fn files_are_listed_by_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    for path in ["a/b", "a/c", "ab", "b"] {
        keep(&mut cache, A, path, path.as_bytes(), 1);
    }
    let mut list = |prefix, after, limit| {
        let files = cache.files(A, prefix, after, limit).unwrap();
        files.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
    };
    assert_eq!(list("", "", 9), ["a/b", "a/c", "ab", "b"]);
    assert_eq!(list("a/", "", 9), ["a/b", "a/c"]);
    assert_eq!((list("a", "a/b", 1), list("c", "", 9)), (vec!["a/c".to_owned()], vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    /// The model has the bytes of each path, ordered by last use.
    #[test]
    fn a_cache_holds_the_newest_that_fit_and_no_file_more(
        steps in proptest::collection::vec((0..2u64, 0..6u8, 1..30usize, any::<bool>()), 1..60), room in 2..16u64,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = open(folder.path(), room * ONE, 1);
        let room = room * ONE;
        let mut model: BTreeMap<(u64, u8), (usize, Vec<u8>)> = BTreeMap::new();
        for (at, (of, path, size, forget)) in steps.into_iter().enumerate() {
            let (id, name) = (Origin { repository: RepositoryId(of), urls: 7 }, path.to_string());
            if forget {
                prop_assert_eq!(cache.forget(id, &name).unwrap(), model.remove(&(of, path)).is_some());
                continue;
            }
            let text = vec![path + size as u8; size * 400];
            keep(&mut cache, id, &name, &text, at as i64);
            model.remove(&(of, path));
            let held = |model: &BTreeMap<_, (usize, Vec<u8>)>| -> u64 {
                model.values().map(|(_, text)| weight(text.len() as u64)).sum()
            };
            let weight = weight(text.len() as u64);
            if weight <= room / 4 || held(&model) + weight <= room {
                model.insert((of, path), (at, text));
            }
            while held(&model) > room {
                let oldest = *model.iter().min_by_key(|(_, (at, _))| *at).unwrap().0;
                model.remove(&oldest);
            }
            for of in 0..2 {
                for path in 0..6 {
                    let expected = model.get(&(of, path)).map(|(_, text)| text.clone());
                    prop_assert_eq!(bytes(&mut cache, Origin { repository: RepositoryId(of), urls: 7 }, &path.to_string()), expected);
                }
            }
            let distinct: std::collections::BTreeSet<_> = model.values().map(|(_, text)| text).collect();
            prop_assert_eq!(on_disk(folder.path()), distinct.len());
        }
    }
}
