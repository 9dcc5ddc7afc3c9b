//! A repository with a new upstream uses nothing that was cached from the previous one.

use super::*;
use crate::cache::files::tests::{bytes, keep, on_disk, open};
use telemetry::Millis;

const HERE: RepositoryId = RepositoryId(1);

fn at(url: &str) -> Origin {
    Origin::new(HERE, &[url.to_owned()])
}

#[test]
fn files_of_another_upstream_are_not_visible_and_late_fetches_from_it_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let (old, new) = (at("one"), at("other"));
    keep(&mut cache, old, "a", b"old", 1);
    cache.record_missing(old, "b", Millis(1), Millis(9), true).unwrap();
    for path in ["a", "b"] {
        assert!(cache.lookup(new, path, Millis(1)).unwrap().is_none(), "{path}");
    }
    assert!(cache.files(new, "", "", 9).unwrap().is_empty());
    assert!(cache.missing(new, "", "", Millis(1), 9).unwrap().paths.is_empty());
    cache.set_upstream(HERE, Some(new));
    keep(&mut cache, new, "a", b"new", 2);
    keep(&mut cache, old, "a", b"late", 3);
    cache.record_missing(old, "a", Millis(3), Millis(9), true).unwrap();
    cache.confirm(old, "a", Millis(9)).unwrap();
    assert_eq!(bytes(&mut cache, new, "a").unwrap(), b"new");
    assert_eq!(cache.files(new, "", "", 9).unwrap()[0].1.checked, Millis(2));
}

#[test]
fn files_of_a_former_upstream_are_dropped_in_pages_and_so_are_those_of_a_removed_repository() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let (old, new) = (at("one"), at("other"));
    let elsewhere = Origin::new(RepositoryId(2), &["one".to_owned()]);
    keep(&mut cache, elsewhere, "a", b"another's", 1);
    for number in 0..=FILES_MAX {
        keep(&mut cache, old, &number.to_string(), &number.to_be_bytes(), 1);
    }
    cache.record_missing(old, "b", Millis(1), Millis(9), true).unwrap();
    assert!(!cache.drop_former(HERE).unwrap());
    assert_eq!(on_disk(folder.path()), FILES_MAX + 2, "no upstream was changed");
    cache.set_upstream(HERE, Some(new));
    keep(&mut cache, new, "c", b"new", 2);
    assert!(cache.drop_former(HERE).unwrap() && !cache.drop_former(HERE).unwrap());
    assert_eq!(on_disk(folder.path()), 2);
    assert!(
        cache.bounds.presence.used() < 300,
        "the facts that `c` is present, and `a` elsewhere: {}",
        cache.bounds.presence.used()
    );
    assert_eq!(bytes(&mut cache, new, "c").unwrap(), b"new");
    cache.set_upstream(HERE, None);
    keep(&mut cache, new, "d", b"late", 3);
    assert!(!cache.drop_former(HERE).unwrap());
    assert_eq!((on_disk(folder.path()), bytes(&mut cache, elsewhere, "a").is_some()), (1, true));
}

#[test]
fn files_that_another_upstream_takes_over_are_visible_and_not_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let mut cache = open(folder.path(), u64::MAX, 1);
    let (old, new) = (at("one"), at("other"));
    for path in ["a", "b", "c"] {
        keep(&mut cache, old, path, path.as_bytes(), 1);
    }
    cache.set_upstream(HERE, Some(new));
    keep(&mut cache, new, "c", b"newer", 2);
    cache.take_over(old, new, &["a".to_owned(), "c".to_owned()]).unwrap();
    while cache.drop_former(HERE).unwrap() {}
    assert_eq!(bytes(&mut cache, new, "a").unwrap(), b"a");
    assert_eq!(bytes(&mut cache, new, "c").unwrap(), b"newer");
    assert!(cache.lookup(new, "b", Millis(1)).unwrap().is_none());
    assert_eq!(on_disk(folder.path()), 2);
}
