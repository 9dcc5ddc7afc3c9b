//! A repository that is turned to another upstream begins with nothing of the one before.

use super::*;
use crate::cache::files::tests::{bytes, keep, on_disk, open};
use telemetry::Millis;

const HERE: RepositoryId = RepositoryId(1);

fn at(url: &str) -> Origin {
    Origin::new(HERE, &[url.to_owned()])
}

#[test]
fn what_another_upstream_gave_is_not_seen_and_what_flights_bring_from_there_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let (old, new) = (at("one"), at("other"));
    keep(&mut cache, old, "a", b"old", 1);
    cache.miss(old, "b", (Millis(1), Millis(9)), true).unwrap();
    for path in ["a", "b"] {
        assert!(cache.recall(new, path, Millis(1)).unwrap().is_none(), "{path}");
    }
    assert!(cache.files(new, ("", ""), 9).unwrap().is_empty());
    assert!(cache.missing(new, ("", ""), Millis(1), 9).unwrap().paths.is_empty());
    cache.turn(HERE, Some(new));
    keep(&mut cache, new, "a", b"new", 2);
    keep(&mut cache, old, "a", b"late", 3);
    cache.miss(old, "a", (Millis(3), Millis(9)), true).unwrap();
    cache.confirm(old, "a", Millis(9)).unwrap();
    assert_eq!(bytes(&mut cache, new, "a").unwrap(), b"new");
    assert_eq!(cache.files(new, ("", ""), 9).unwrap()[0].1.checked, Millis(2));
}

#[test]
fn mirrors_come_and_go_and_what_is_kept_stays() {
    let urls = ["one", "mirror"].map(str::to_owned);
    assert_eq!(Origin::new(HERE, &urls), at("one"));
    assert_ne!(Origin::new(HERE, &urls[1..]), at("one"));
}

#[test]
fn all_that_a_former_upstream_gave_goes_in_turns_and_all_that_a_removed_repository_had() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let (old, new) = (at("one"), at("other"));
    let elsewhere = Origin::new(RepositoryId(2), &["one".to_owned()]);
    keep(&mut cache, elsewhere, "a", b"another's", 1);
    for number in 0..=FILES_MAX {
        keep(&mut cache, old, &number.to_string(), &number.to_be_bytes(), 1);
    }
    cache.miss(old, "b", (Millis(1), Millis(9)), true).unwrap();
    assert!(!cache.drop_former(HERE).unwrap());
    assert_eq!(on_disk(folder.path()), FILES_MAX + 2, "nothing was turned");
    cache.turn(HERE, Some(new));
    keep(&mut cache, new, "c", b"new", 2);
    assert!(cache.drop_former(HERE).unwrap() && !cache.drop_former(HERE).unwrap());
    assert_eq!(on_disk(folder.path()), 2);
    assert!(cache.facts.used() < 300, "of the facts, that there is `c`, and `a` elsewhere: {}", cache.facts.used());
    assert_eq!(bytes(&mut cache, new, "c").unwrap(), b"new");
    cache.turn(HERE, None);
    keep(&mut cache, new, "d", b"late", 3);
    assert!(!cache.drop_former(HERE).unwrap());
    assert_eq!((on_disk(folder.path()), bytes(&mut cache, elsewhere, "a").is_some()), (1, true));
}

#[test]
fn what_another_takes_over_is_seen_of_it_and_is_no_former_upstream_s_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let (old, new) = (at("one"), at("other"));
    for path in ["a", "b", "c"] {
        keep(&mut cache, old, path, path.as_bytes(), 1);
    }
    cache.turn(HERE, Some(new));
    keep(&mut cache, new, "c", b"newer", 2);
    cache.take_over(old, new, &["a".to_owned(), "c".to_owned()]).unwrap();
    while cache.drop_former(HERE).unwrap() {}
    assert_eq!(bytes(&mut cache, new, "a").unwrap(), b"a");
    assert_eq!(bytes(&mut cache, new, "c").unwrap(), b"newer");
    assert!(cache.recall(new, "b", Millis(1)).unwrap().is_none());
    assert_eq!(on_disk(folder.path()), 2);
}
