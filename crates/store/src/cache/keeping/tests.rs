//! The queue: it is written in one transaction, it stays readable until then, and it loses nothing else when the disk fails.

use super::*;
use crate::cache::arrivals::Queued;
use crate::cache::cached_file::{CachedPath, Lookup};
use crate::cache::files::tests::{arrival, bytes, keep, on_disk, open};
use crate::cache::presence_cache::FolderPresence;
use crate::journal::record::RepositoryId;
use bytes::Bytes;
use std::time::Duration;
use telemetry::Millis;

const A: Origin = Origin { repository: RepositoryId(1), urls: 7 };

/// Queues a file, and returns after how long it wants to be written.
fn offer(cache: &Cache, path: &str, text: &[u8]) -> Option<Duration> {
    cache.arrivals.offer(arrival(A, path, text, 1, None)).unwrap_or_else(|_| panic!("{path} is not queued"))
}

fn offer_missing(cache: &Cache, path: &str) {
    let what = Arrived::Missing { now: Millis(1), until: Millis(9) };
    assert!(cache.arrivals.offer(Arrival { of: A, path: path.into(), what }).is_ok(), "{path}");
}

#[test]
fn what_waits_is_found_and_is_written_in_order_and_in_one_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    assert_eq!(offer(&cache, "a/b", b"old"), Some(Duration::from_millis(100)));
    assert_eq!(offer(&cache, "a/b", b"new"), None, "the thread knows already");
    offer_missing(&cache, "a/c");
    offer(&cache, "a/d", b"gone");
    offer_missing(&cache, "a/d");
    assert!(cache.lookup(A, "a/b", Millis(1)).unwrap().is_none());
    let found = cache.arrivals.find(A, "a/b");
    assert!(matches!(found, Some(Queued::Bytes(_, bytes)) if bytes == Bytes::from_static(b"new")));
    assert!(matches!(cache.arrivals.find(A, "a/d"), Some(Queued::MissingUntil(Millis(9)))));
    let known = Arc::new(FolderPresence::default()).with(cache.arrivals.facts_in("a"));
    let upstream = known.upstream(A).unwrap();
    assert_eq!((upstream.has, upstream.missing_until("c"), upstream.missing_until("b")), (true, Some(Millis(9)), None));
    let commits = || {
        let database = rusqlite::Connection::open(folder.path().join("cache.sqlite")).unwrap();
        database.query_row("SELECT count(*) FROM file", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(commits(), 0);
    cache.write_arrivals();
    assert!(cache.arrivals.is_empty() && cache.arrivals.find(A, "a/b").is_none());
    assert_eq!((cache.arrivals.bound().used(), commits()), (0, 1));
    assert_eq!(bytes(&mut cache, A, "a/b").unwrap(), b"new");
    for path in ["a/c", "a/d"] {
        let found = cache.lookup(A, path, Millis(1)).unwrap();
        assert!(matches!(found, Some(Lookup::Found(CachedPath::MissingUntil(Millis(9))))), "{path}");
    }
    assert_eq!((on_disk(folder.path()), cache.holdings.cached(A).files), (1, 1), "only the new bytes are left");
}

#[test]
fn the_queue_is_written_at_once_when_it_is_half_full_and_beyond_its_bound_callers_wait() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let delays: Vec<_> = (0..1024).map(|number| offer(&cache, &number.to_string(), b"same")).collect();
    let told: Vec<_> = delays.iter().enumerate().filter_map(|(at, delay)| delay.map(|delay| (at, delay))).collect();
    assert_eq!(told, [(0, Duration::from_millis(100)), (511, Duration::ZERO)]);
    assert!(cache.arrivals.offer(arrival(A, "more", b"same", 1, None)).is_err());
    assert_eq!(cache.arrivals.bound().rejected(), 0);
    cache.write_arrivals();
    assert_eq!((cache.holdings.cached(A).files, on_disk(folder.path())), (1024, 1));
    for number in 0..8 {
        let large = vec![number; (1 << 20) - 1];
        assert_eq!(offer(&cache, &number.to_string(), &large).is_some(), number == 0 || number == 4, "{number}");
    }
    assert!(cache.arrivals.offer(arrival(A, "more", &[0; 1 << 20], 1, None)).is_err());
}

#[test]
fn files_and_their_victims_stay_within_the_bound_however_many_come_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (one, many) = (weight(1), 300);
    let mut cache = open(folder.path(), 10 * one, 1);
    for number in 0..many {
        offer(&cache, &number.to_string(), &u32::to_be_bytes(number));
        let large = [&u32::to_be_bytes(number)[..], &[7; 3 * 4096]].concat();
        assert!(cache.arrivals.offer(arrival(A, &format!("large{number}"), &large, 1, Some(4 * one))).is_ok());
    }
    cache.write_arrivals();
    assert!(cache.bounds.files.used() <= 4 * one, "{}", cache.bounds.files.used());
    let rows = "SELECT count(DISTINCT sha256) FROM file";
    let rows: i64 = cache.connection.query_row(rows, [], |row| row.get(0)).unwrap();
    assert_eq!(on_disk(folder.path()), rows.cast_unsigned() as usize);
}

#[test]
fn what_arrives_while_a_batch_is_written_gets_a_turn_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), u64::MAX, 1);
    offer(&cache, "a", b"one");
    let (batch, _) = cache.arrivals.begin().unwrap();
    assert_eq!(offer(&cache, "b", b"two"), Some(Duration::from_millis(100)));
    assert_eq!(offer(&cache, "c", b"three"), None);
    batch.written();
    assert!(cache.arrivals.find(A, "a").is_none() && cache.arrivals.find(A, "b").is_some());
    assert_eq!(offer(&cache, "d", b"four"), None, "a turn is due for `b`");
}

#[test]
fn some_large_files_evict_as_many_small_ones_as_they_take_and_the_database_shrinks() {
    let folder = tempfile::tempdir().unwrap();
    let bound = 1000 * weight(8000);
    let mut cache = open(folder.path(), bound, 1);
    let small = |number: u32| [&u32::to_be_bytes(number)[..], &[7; 7996]].concat();
    for number in 0..1000 {
        offer(&cache, &number.to_string(), &small(number));
    }
    cache.write_arrivals();
    for number in 0..4 {
        offer(&cache, &format!("large{number}"), &vec![number; 1_900_000]);
    }
    cache.write_arrivals();
    assert!(cache.bounds.files.used() <= bound, "{} of {bound}", cache.bounds.files.used());
    assert!(cache.lookup(A, "large3", Millis(1)).unwrap().is_some());
    let free: i64 = cache.connection.pragma_query_value(None, "freelist_count", |row| row.get(0)).unwrap();
    assert!(free <= 1024, "{free} pages are free");
}

#[test]
fn a_small_file_is_verified_once_after_a_boot_of_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    keep(&mut open(folder.path(), u64::MAX, 1), A, "a", b"old", 1);
    let mut cache = open(folder.path(), u64::MAX, 2);
    let boot =
        |cache: &Cache| -> i64 { cache.connection.query_row("SELECT boot FROM file", [], |row| row.get(0)).unwrap() };
    assert_eq!((boot(&cache), bytes(&mut cache, A, "a").unwrap()), (1, b"old".to_vec()));
    cache.finish();
    assert_eq!(boot(&cache), 2);
}

/// A file of more than 64 KiB gets its place after the commit. Here another one of the same batch replaces it before.
#[test]
fn a_large_file_that_is_replaced_in_its_own_batch_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let large = |of: u8| vec![of; 100_000];
    offer(&cache, "a", &large(1));
    offer(&cache, "a", &large(2));
    offer(&cache, "b", &large(3));
    offer_missing(&cache, "b");
    cache.write_arrivals();
    assert_eq!(on_disk(folder.path()), 1);
    assert!(cache.lookup(A, "a", Millis(1)).unwrap().is_some() && cache.unplaced.is_empty());
}

#[test]
fn a_batch_that_cannot_be_written_changes_nothing_and_the_next_callers_wait_until_one_can() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    keep(&mut cache, A, "a", b"old", 1);
    cache
        .connection
        .execute_batch("CREATE TRIGGER full BEFORE INSERT ON small BEGIN SELECT raise(ROLLBACK, 'full'); END")
        .unwrap();
    offer(&cache, "a", b"new");
    offer(&cache, "b", b"other");
    cache.write_arrivals();
    assert!(cache.arrivals.is_empty());
    assert_eq!((bytes(&mut cache, A, "a").unwrap(), cache.holdings.cached(A).files), (b"old".to_vec(), 1));
    assert!(cache.arrivals.offer(arrival(A, "b", b"other", 1, None)).is_err());
    assert!(cache.keep(arrival(A, "b", b"other", 1, None)).is_err());
    assert!(cache.arrivals.offer(arrival(A, "b", b"other", 1, None)).is_err());
    cache.connection.execute_batch("DROP TRIGGER full").unwrap();
    assert!(cache.keep(arrival(A, "b", b"other", 1, None)).unwrap());
    offer(&cache, "c", b"more");
    cache.write_arrivals();
    assert_eq!(cache.holdings.cached(A).files, 3);
}

#[test]
fn a_panic_ends_its_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cache.together(|cache| -> Result<()> {
            cache.keep_small(&crate::Hashes::of(b"one").sha256, b"one")?;
            panic!("in the middle")
        })
    }));
    assert!(panics.is_err() && cache.connection.is_autocommit());
    assert_eq!(on_disk(folder.path()), 0);
}
