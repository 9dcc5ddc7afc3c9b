//! The rows stay within their bound however many missing paths are requested, and memory always equals the rows.

use super::*;
use crate::cache::files::tests::{bytes, keep, open};
use proptest::prelude::*;
use std::path::Path;

const A: Origin = Origin { repository: RepositoryId(1), urls: 7 };
const B: Origin = Origin { repository: RepositoryId(2), urls: 7 };

fn rows(cache: &Cache) -> i64 {
    cache.connection.query_row("SELECT count(*) FROM fact", [], |row| row.get(0)).unwrap()
}

/// A cache whose bound holds five rows with short names.
fn missing(folder: &Path, paths: &[(&str, i64)], now: i64) -> Cache {
    let mut cache = open(folder, u64::MAX, 1);
    for (path, until) in paths {
        cache.record_missing(A, path, Millis(now), Millis(*until), true).unwrap();
    }
    cache
}

fn listed(cache: &mut Cache, after: &str, now: i64) -> Vec<String> {
    let listing = cache.missing(A, split(after).0, after, Millis(now), 9).unwrap();
    listing.paths.into_iter().map(|(path, _)| path).collect()
}

#[test]
fn a_folder_has_one_row_whatever_was_asked_for_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = missing(folder.path(), &[("a/x", 50), ("a/y", 60), ("b", 70)], 1);
    keep(&mut cache, A, "a/z", b"there", 1);
    keep(&mut cache, A, "a/zz", b"there", 1);
    assert_eq!(rows(&cache), 2);
    assert_eq!(
        (listed(&mut cache, "", 1), listed(&mut cache, "", 55)),
        (vec!["b".into(), "a/x".into(), "a/y".into()], vec!["b".into(), "a/y".into()])
    );
    assert_eq!(
        (listed(&mut cache, "b", 1), listed(&mut cache, "a/x", 1)),
        (vec!["a/x".into(), "a/y".into()], vec!["a/y".to_owned()])
    );
    let known = cache.folder("a").unwrap();
    let presence = known.upstream(A).unwrap();
    assert!(presence.has && known.upstream(B).is_none());
    assert_eq!((presence.missing_until("x"), presence.missing_until("z")), (Some(Millis(50)), None));
}

#[test]
fn an_expired_name_is_not_missing_any_more_and_its_row_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = missing(folder.path(), &[("a/x", 50)], 1);
    assert!(listed(&mut cache, "", 50).is_empty());
    assert!(!cache.folder("a").unwrap().upstream(A).unwrap().has);
    // The expired name is dropped when another is recorded.
    cache.record_missing(A, "a/y", Millis(50), Millis(99), true).unwrap();
    let known = cache.folder("a").unwrap();
    assert_eq!((known.upstream(A).unwrap().missing_until("x"), rows(&cache)), (None, 1));
    assert!(cache.forget(A, "a/y").unwrap() && cache.folder("a").unwrap().upstream(A).is_none());
}

#[test]
fn rows_that_were_changed_longest_ago_are_evicted_first_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    drop(missing(folder.path(), &[("a/1", 50), ("b/1", 20), ("c/1", 40), ("d/1", 30), ("e/1", 60)], 1));
    let mut cache = missing(folder.path(), &[("a/1", 51), ("f/1", 70), ("g/1", 80)], 1);
    assert_eq!(listed(&mut cache, "", 0), ["a/1", "d/1", "e/1", "f/1", "g/1"]);
    assert!(cache.bounds.presence.used() <= cache.bounds.presence.capacity() && cache.bounds.presence.used() > 0);
    keep(&mut cache, A, "d/1", b"it came", 2);
    cache.forget(A, "e/1").unwrap();
    assert_eq!(rows(&cache), 4);
    let used = cache.bounds.presence.used();
    assert_eq!(cache.measure_presence().unwrap(), used);
}

#[test]
fn names_of_one_folder_have_a_bound_and_those_that_expire_soonest_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    cache.bounds.presence.set_capacity(u64::MAX);
    let name = |number: i64| format!("a/{number:0>200}");
    for number in 0..300 {
        cache.record_missing(A, &name(number), Millis(0), Millis(1000 + number), true).unwrap();
    }
    assert!(cache.bounds.presence.used() < 2 * NAMES_MAX_BYTES as u64, "{}", cache.bounds.presence.used());
    assert_eq!(cache.missing_until(A, &name(0)).unwrap(), None);
    assert_eq!(cache.missing_until(A, &name(299)).unwrap(), Some(Millis(1299)));
}

#[test]
fn on_a_full_disk_nothing_is_recorded_and_the_cached_file_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    keep(&mut cache, A, "a", b"it was", 1);
    cache.record_missing(A, "a", Millis(1), Millis(9), false).unwrap();
    assert_eq!((cache.missing_until(A, "a").unwrap(), bytes(&mut cache, A, "a")), (None, None));
}

#[test]
fn missing_paths_are_listed_in_pages_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    cache.bounds.presence.set_capacity(u64::MAX);
    let all = cache.connection.unchecked_transaction().unwrap();
    for number in 0..=SCAN_MAX {
        let presence = Presence { has: true, missing: [("x".to_owned(), 9)].into() };
        all.prepare_cached("INSERT INTO fact (folder, member, origin, has, missing, weight) VALUES (?, 1, 7, 1, ?, 1)")
            .unwrap()
            .execute(params![format!("{number:05}"), serde_json::to_string(&presence.missing).unwrap()])
            .unwrap();
    }
    all.commit().unwrap();
    let first = cache.missing(A, "", "", Millis(0), usize::MAX).unwrap();
    assert_eq!((first.paths.len(), first.next.as_deref()), (SCAN_MAX, Some("04096")));
    let rest = cache.missing(A, "04096", "", Millis(0), usize::MAX).unwrap();
    assert_eq!((rest.paths.len(), rest.next), (1, None));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    /// Memory equals the rows after every step, and each path is present, missing or unknown as in the model.
    #[test]
    fn what_is_known_of_folders_is_the_last_that_happened(
        steps in proptest::collection::vec((0..2u64, 0..2u8, 0..3u8, 0..4u8), 1..60),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = open(folder.path(), u64::MAX, 1);
        cache.bounds.presence.set_capacity(u64::MAX);
        let mut model: BTreeMap<(u64, u8), Presence> = BTreeMap::new();
        for (at, (member, place, name, what)) in steps.into_iter().enumerate() {
            let (of, path) = (Origin { repository: RepositoryId(member), urls: 7 }, format!("{place}/{name}"));
            let (now, until) = (at as i64, at as i64 + 10);
            let presence = model.entry((member, place)).or_default();
            match what {
                0 => {
                    cache.record_missing(of, &path, Millis(now), Millis(until), true).unwrap();
                    presence.missing.retain(|_, until| now < *until);
                    presence.missing.insert(name.to_string(), until);
                }
                1 => {
                    keep(&mut cache, of, &path, b"there", now);
                    presence.has = true;
                    presence.missing.remove(&name.to_string());
                }
                2 => {
                    cache.forget(of, &path).unwrap();
                    presence.missing.remove(&name.to_string());
                }
                _ => drop(cache.folder(&place.to_string()).unwrap()),
            }
            model.retain(|_, presence| *presence != Presence::default());
            for place in 0..2u8 {
                let name = place.to_string();
                let in_memory = cache.presence().get(&name);
                let read = cache.folder(&name).unwrap();
                for known in in_memory.iter().chain([&read]) {
                    for member in 0..2 {
                        let presence = known.upstream(Origin { repository: RepositoryId(member), urls: 7 });
                        let expected = model.get(&(member, place));
                        prop_assert_eq!(presence.map(|presence| presence.has), expected.map(|presence| presence.has));
                        for name in ["0", "1", "2"] {
                            let until = expected.and_then(|presence| presence.missing.get(name)).map(|until| Millis(*until));
                            prop_assert_eq!(presence.and_then(|presence| presence.missing_until(name)), until);
                        }
                    }
                }
            }
            prop_assert_eq!(rows(&cache), model.len() as i64);
        }
    }
}
