//! MD5 and SHA-512 of cached files, which are made after their arrival.

use super::{job, open};
use crate::{Arrival, CachedFile, CachedPath, Hashes, Held, MoreDigests, Origin, RepositoryId, Store, Unit};
use bytes::Bytes;
use std::io::Read;
use telemetry::Millis;

const A: RepositoryId = RepositoryId(1);
const B: RepositoryId = RepositoryId(2);

/// Caches a file that has SHA-256 and SHA-1, at a moment.
async fn cache(store: &Store, id: RepositoryId, path: &str, bytes: &'static [u8], at: i64) {
    let file = CachedFile::fetched(Hashes::with(bytes, MoreDigests::default()), Millis(at));
    let arrival = Arrival::Bytes(Bytes::from_static(bytes));
    assert!(store.keep_cached(Origin::new(id, &[]), path, file, arrival, None, &mut job()).await.unwrap());
}

async fn hashes(store: &Store, id: RepositoryId, path: &str) -> Option<Hashes> {
    match store.lookup_cached(Origin::new(id, &[]), path, Millis(9), &mut job()).await.unwrap() {
        Some(CachedPath::File(known, _)) => Some(known.hashes.clone()),
        _ => None,
    }
}

/// The paths of the files that lack a digest, with the number of bytes that are read.
async fn undigested(store: &Store, before: i64) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for file in store.undigested(Millis(before), &mut job()).await.unwrap() {
        let len = match &file.held {
            Held::Bytes(bytes) => bytes.len(),
            Held::File(file) => (&**file).read_to_end(&mut Vec::new()).unwrap(),
        };
        found.push((file.path, len));
    }
    found
}

#[tokio::test]
async fn files_without_md5_or_sha_512_are_found_by_age_until_they_get_them_wherever_they_have_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    cache(&store, A, "a/lamp", b"lamp", 5).await;
    cache(&store, B, "b/lamp", b"lamp", 6).await;
    cache(&store, A, "a/large", &[7; 100_000], 7).await;
    let whole = CachedFile::fetched(Hashes::of(b"whole"), Millis(5));
    let arrival = Arrival::Bytes(Bytes::from_static(b"whole"));
    store.keep_cached(Origin::new(A, &[]), "c/whole", whole, arrival, None, &mut job()).await.unwrap();
    assert_eq!(hashes(&store, A, "a/lamp").await, Some(Hashes::with(b"lamp", MoreDigests::default())));
    assert_eq!(undigested(&store, 5).await, []);
    assert_eq!(undigested(&store, 8).await, [("a/lamp".into(), 4), ("a/large".into(), 100_000)]);
    let stamp = |id, unit| store.revisions().stamp([Unit::Of(id, unit)], Millis(i64::MAX));
    let stamps = [stamp(A, "a"), stamp(B, "b"), stamp(A, "c")];
    assert_eq!(store.keep_digests(vec![Hashes::of(b"lamp")], &mut job()).await.unwrap(), 2);
    assert_eq!(stamps.map(|stamp| store.revisions().holds(&stamp, Millis(1))), [false, false, true]);
    for (id, path) in [(A, "a/lamp"), (B, "b/lamp")] {
        assert_eq!(hashes(&store, id, path).await, Some(Hashes::of(b"lamp")), "{path}");
    }
    assert_eq!(undigested(&store, 8).await, [("a/large".into(), 100_000)]);
    assert_eq!(store.keep_digests(vec![Hashes::of(b"lamp")], &mut job()).await.unwrap(), 0, "they have them");
    let md5 = MoreDigests { md5: true, sha512: false };
    assert_eq!(store.keep_digests(vec![Hashes::with(&[7; 100_000], md5)], &mut job()).await.unwrap(), 1);
    assert_eq!(undigested(&store, 8).await.len(), 1, "it lacks SHA-512");
    store.close();
    drop(store);
    let store = open(folder.path());
    assert_eq!(hashes(&store, A, "a/lamp").await, Some(Hashes::of(b"lamp")));
    assert_eq!(hashes(&store, A, "a/large").await, Some(Hashes::with(&[7; 100_000], md5)));
}

#[tokio::test]
async fn a_damaged_file_is_removed_unless_it_was_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    cache(&store, A, "a/lamp", b"lamp", 5).await;
    cache(&store, A, "a/oil", b"oil", 5).await;
    let found = store.undigested(Millis(8), &mut job()).await.unwrap();
    // It is fetched again while its former bytes are hashed.
    cache(&store, A, "a/oil", b"oil", 7).await;
    let stamp = store.revisions().stamp([Unit::Of(A, "a")], Millis(i64::MAX));
    for file in found {
        store.drop_damaged(file, &mut job()).await.unwrap();
    }
    assert!(!store.revisions().holds(&stamp, Millis(1)));
    assert_eq!(hashes(&store, A, "a/lamp").await, None);
    assert!(hashes(&store, A, "a/oil").await.is_some());
}
