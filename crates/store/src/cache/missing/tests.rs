//! However many paths are asked for that no upstream has, the rows of them are few.

use super::*;
use crate::cache::files::tests::{bytes, keep, open};

const A: Origin = Origin { repository: RepositoryId(1), urls: 7 };

fn rows(cache: &Cache) -> i64 {
    cache.connection.query_row("SELECT count(*) FROM fact", [], |row| row.get(0)).unwrap()
}

/// Has room for five.
fn missing(folder: &std::path::Path, cache: Option<Cache>, paths: &[(&str, i64)], now: i64) -> Cache {
    let mut cache = cache.unwrap_or_else(|| open(folder, u64::MAX, 1));
    for (path, until) in paths {
        cache.miss(A, path, (Millis(now), Millis(*until)), true).unwrap();
    }
    cache
}

#[test]
fn what_has_ended_goes_when_another_comes() {
    let folder = tempfile::tempdir().unwrap();
    let cache = missing(folder.path(), None, &[("a", 5), ("b", 6), ("c", 99)], 1);
    assert_eq!((rows(&cache), cache.facts.used()), (3, 3));
    let mut cache = missing(folder.path(), Some(cache), &[("d", 99)], 6);
    assert_eq!((rows(&cache), cache.facts.used()), (2, 2));
    let left: Vec<_> = cache.missing(A, "", Millis(0), 9).unwrap().into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, ["c", "d"]);
}

#[test]
fn of_more_than_fit_those_go_that_end_soonest_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [("a", 50), ("b", 20), ("c", 40), ("d", 30), ("e", 60)];
    drop(missing(folder.path(), None, &paths, 1));
    let mut cache = missing(folder.path(), None, &[("f", 70), ("g", 80), ("a", 90)], 1);
    let left: Vec<_> = cache.missing(A, "", Millis(0), 9).unwrap().into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, ["a", "c", "e", "f", "g"]);
    assert_eq!((rows(&cache), cache.facts.used()), (5, 5));
    keep(&mut cache, A, "c", b"it came", 2);
    cache.lose(A, "e").unwrap();
    assert_eq!((rows(&cache), cache.count_facts().unwrap()), (3, 3));
}

#[test]
fn on_a_full_disk_nothing_is_noted_and_what_was_known_goes() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    keep(&mut cache, A, "a", b"it was", 1);
    cache.miss(A, "a", (Millis(1), Millis(9)), false).unwrap();
    assert_eq!((rows(&cache), bytes(&mut cache, A, "a")), (0, None));
}
