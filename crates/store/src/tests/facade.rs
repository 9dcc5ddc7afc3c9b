//! Blobs, commits, reads and revisions, through the public interface.

use super::{job, keep, open, options, publication};
use crate::disk::{Disk, RealDisk};
use crate::truth::suite::{R, batch, publish, repository};
use crate::{Arrival, CachedFile, CachedPath, CommitError, Digest, Error, Expect, Hashes, Held, RepositoryId, Seq};
use crate::{MoreDigests, Origin, Store, StoreOptions, Unit};
use bytes::{Bytes, BytesMut};
use std::io::Read;
use std::sync::Arc;
use telemetry::{BoundName, Millis, Op};

fn files(folder: &std::path::Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[tokio::test]
async fn bytes_are_kept_under_their_digest_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut event = job();
    let mut staged = store.stage(&mut event).await.unwrap();
    staged.write(Bytes::from_static(b"hello "), &mut event).await.unwrap();
    staged.write(Bytes::from_static(b"world"), &mut event).await.unwrap();
    let mut early = String::new();
    staged.open().unwrap().read_to_string(&mut early).unwrap();
    assert_eq!((early.as_str(), staged.size_bytes()), ("hello world", 11));
    let hashes = staged.keep(&mut event).await.unwrap().hashes;
    assert_eq!(hashes.md5.as_deref(), Some("5eb63bbbe01eeed093cb22bb8f5acdc3"));
    assert_eq!(hashes.sha1, "2aae6c35c94fcfb415dbe95f408b9ce91ee846ed");
    assert_eq!(hashes.sha256.to_string(), "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
    assert!(hashes.sha512.as_deref().unwrap().starts_with("309ecc489c12d6eb4cc40f50c902f2b4"));
    for _ in 0..2 {
        let (mut file, size_bytes) = store.open_blob(hashes.sha256, &mut event).await.unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), size_bytes), ("hello world", 11));
        assert_eq!(store.read_blob(hashes.sha256, &mut event).await.unwrap(), "hello world");
        assert_eq!(keep(&store, b"hello world").await.unwrap(), hashes);
    }
    assert_eq!(files(&store.layout().temporary_blobs()), 0);
    let missing = store.open_blob(Digest([0; 32]), &mut event).await.unwrap_err();
    assert!(matches!(missing, Error::BlobMissing(_)));
    assert_eq!((event.tally(Op::BlobWrite).count, event.tally(Op::BlobSync).count), (3, 1));
}

#[tokio::test]
async fn pieces_are_written_one_after_the_other_while_their_owner_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut event = job();
    let first = BytesMut::from(&b"one "[..]);
    let (mut staged, file, mut spare) = store.stage_first(MoreDigests::default(), first, &mut event).await.unwrap();
    let (written, lengths) = std::sync::mpsc::channel();
    for piece in [&b"two "[..], b"three"] {
        assert!(spare.is_empty(), "a buffer comes back without its bytes");
        spare.extend_from_slice(piece);
        let (written, file) = (written.clone(), file.try_clone().unwrap());
        let then = move || written.send(file.metadata().unwrap().len()).unwrap();
        spare = staged.write_behind(spare, then, &mut event).await.unwrap();
    }
    assert!(matches!(staged.hashes(), Err(Error::GivenUp)), "the last piece is not settled");
    staged.settle(&mut event).await.unwrap();
    assert_eq!(lengths.try_iter().collect::<Vec<_>>(), [8, 13], "readers are told when the bytes are there");
    let mut text = String::new();
    { &file }.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one two three");
    assert_eq!(staged.hashes().unwrap(), Hashes::with(text.as_bytes(), MoreDigests::default()));
    assert_eq!(event.tally(Op::BlobWrite).count, 3);
    staged.write_behind(BytesMut::from(&b"four"[..]), || {}, &mut event).await.unwrap();
    drop(staged);
    store.close();
    assert_eq!(files(&store.layout().temporary_blobs()), 0, "an owner that leaves leaves nothing behind");
}

#[tokio::test]
async fn bytes_that_are_not_kept_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let staged = store.stage(&mut job()).await.unwrap();
    assert_eq!(files(&store.layout().temporary_blobs()), 1);
    drop(staged);
    store.close();
    assert_eq!(files(&store.layout().temporary_blobs()), 0);
    std::fs::OpenOptions::new().create(true).append(true).open(store.layout().temporary_blobs().join("7")).unwrap();
    let store = open(folder.path());
    assert_eq!(files(&store.layout().temporary_blobs()), 0, "the next start removes the files of a killed process");
}

#[tokio::test]
async fn what_is_committed_is_read_and_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut event = job();
    {
        let store = open(folder.path());
        let made = store.commit(batch(vec![], vec![repository(0, "first", &[], false)]), &mut event).await;
        assert_eq!(made.unwrap(), Seq(1));
        let (bytes, publish) = publication("rack", 1);
        keep(&store, &bytes).await.unwrap();
        assert_eq!(store.commit(batch(vec![], vec![publish]), &mut event).await.unwrap(), Seq(2));
        assert_eq!(event.tally(Op::Commit).count, 2);
    }
    let store = open(folder.path());
    assert_eq!(store.last(), Seq(2));
    assert_eq!(store.unit(R, "rack", crate::Lane::Change, &mut event).await.unwrap().entries.len(), 1);
    assert_eq!(store.units(R, "", 9, &mut event).await.unwrap(), ["rack"]);
    assert_eq!(store.lines(R, Seq(0), 9, &mut event).await.unwrap().len(), 1);
    assert_eq!(store.repositories(&mut event).await.unwrap().len(), 1);
    let entry = store.entry(R, "rack-1", &mut event).await.unwrap().unwrap();
    assert!(store.open_blob(entry.hashes.sha256, &mut event).await.is_ok());
    store.close();
    assert!(matches!(store.last(), Seq(2)));
    assert!(matches!(store.tokens(&mut event).await, Err(Error::Closed)));
    let closed = store.commit(batch(vec![], vec![]), &mut event).await;
    assert!(matches!(closed, Err(CommitError::Error(Error::Closed))));
}

#[tokio::test]
async fn of_two_that_read_the_same_unit_one_is_told_of_the_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let expect = || vec![Expect::UnitAt { repository: R, unit: "rack".into(), seq: Seq(0) }];
    let (mut one, mut other) = (job(), job());
    let answers = tokio::join!(
        store.commit(batch(expect(), vec![publish("rack", 1)]), &mut one),
        store.commit(batch(expect(), vec![publish("rack", 2)]), &mut other),
    );
    assert!(matches!(answers, (Ok(Seq(1)), Err(CommitError::Conflict(_)))));
    assert_eq!(store.last(), Seq(1));
}

#[tokio::test]
async fn an_acknowledged_change_has_voided_every_stamp_it_touches_groups_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut event = job();
    let make = ["inner", "first", "all"];
    let members: [&[&str]; 3] = [&[], &["inner"], &["first"]];
    for (name, members) in make.iter().zip(members) {
        store.commit(batch(vec![], vec![repository(0, name, members, false)]), &mut event).await.unwrap();
    }
    let [hosted, group, outer] = [1, 2, 3].map(RepositoryId);
    let stamp = |unit| store.revisions().stamp([unit], Millis(i64::MAX));
    let holds = |stamp| store.revisions().holds(&stamp, Millis(0));
    let touched = [hosted, group, outer].map(|id| [stamp(Unit::Of(id, "rack")), stamp(Unit::All(id))]);
    let settings = stamp(Unit::Settings);
    store.commit(batch(vec![], vec![publish("rack", 1)]), &mut event).await.unwrap();
    assert!(touched.into_iter().flatten().all(|stamp| !holds(stamp)));
    assert!(holds(settings));
    // A change of a repository that a group no longer contains does not affect the group; removing the member did.
    let alone = repository(3, "all", &["elsewhere"], false);
    store.commit(batch(vec![], vec![alone]), &mut event).await.unwrap();
    assert!(!holds(settings));
    let apart = stamp(Unit::All(outer));
    store.commit(batch(vec![], vec![publish("rack", 2)]), &mut event).await.unwrap();
    assert!(holds(apart));
}

#[tokio::test]
async fn a_full_queue_says_so_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(StoreOptions { commits_max: 0, reads_max: 0, ..options(folder.path()) }).unwrap();
    let commit = store.commit(batch(vec![], vec![]), &mut job()).await;
    assert!(matches!(commit, Err(CommitError::Error(Error::Busy(BoundName::TruthWriter)))));
    assert!(matches!(store.tokens(&mut job()).await, Err(Error::Busy(BoundName::TruthReaders))));
}

#[tokio::test]
async fn below_the_floor_nothing_is_written_and_reads_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(StoreOptions { floor_bytes: u64::MAX, ..options(folder.path()) }).unwrap();
    assert!(matches!(store.stage(&mut job()).await, Err(Error::DiskNearlyFull { .. })));
    let commit = store.commit(batch(vec![], vec![publish("rack", 1)]), &mut job()).await;
    assert!(matches!(commit, Err(CommitError::Error(Error::DiskNearlyFull { .. }))));
    let settings = vec![repository(0, "first", &[], false)];
    store.commit(batch(vec![], settings), &mut job()).await.unwrap();
    assert_eq!(store.repositories(&mut job()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_folder_has_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<Store> = open(folder.path());
    assert!(matches!(Store::open(options(folder.path())), Err(Error::Locked(_))));
    drop(store);
    open(folder.path());
}

#[tokio::test]
async fn facts_about_members_are_noted_and_forgotten_and_losing_them_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut event = job();
    let store = open(folder.path());
    let of = Origin::new(R, &[]);
    store.record_missing(of, "a/b", Millis(1), Millis(7), &mut event).await.unwrap();
    assert!(store.folder_presence_in_memory("a").is_none());
    let folder_a = store.folder_presence("a", &mut event).await.unwrap();
    assert_eq!(folder_a.upstream(of).unwrap().missing_until("b"), Some(Millis(7)));
    assert!(store.folder_presence_in_memory("a").is_some());
    assert!(store.forget_cached(of, "a/b", &mut event).await.unwrap());
    assert!(
        store.folder_presence_in_memory("a").is_none()
            && store.folder_presence("a", &mut event).await.unwrap().upstream(of).is_none()
    );
    // Nobody waited until the first fact was written.
    assert_eq!((event.tally(Op::CacheWrite).count, event.tally(Op::CacheRead).count), (1, 2));
    store.record_missing(of, "a/b", Millis(1), Millis(7), &mut event).await.unwrap();
    drop(store);
    RealDisk.unlink(&folder.path().join("cache.sqlite")).unwrap();
    assert!(open(folder.path()).folder_presence("a", &mut event).await.unwrap().upstream(of).is_none());
}

#[tokio::test]
async fn files_of_upstreams_are_kept_without_a_sync_and_those_of_a_lost_cache_go() {
    let folder = tempfile::tempdir().unwrap();
    let (store, mut event, of) = (open(folder.path()), job(), Origin::new(R, &[]));
    let large = Bytes::from(vec![7; 100_000]);
    let mut staged = store.stage(&mut event).await.unwrap();
    staged.write(large.clone(), &mut event).await.unwrap();
    let (hashes, now) = (staged.hashes().unwrap(), Millis(5));
    assert_eq!(hashes, Hashes::of(&large));
    let file = CachedFile::fetched(hashes, now);
    let arrival = Arrival::Staged(Box::new(staged));
    store.keep_cached(of, "a/b.bin", file.clone(), arrival, None, &mut event).await.unwrap();
    let found = store.lookup_cached(of, "a/b.bin", now, &mut event).await.unwrap();
    assert!(matches!(found, Some(CachedPath::File(known, Held::File(_))) if *known == file), "it is found before");
    store.settle_cached(&mut event).await;
    assert_eq!((files(&store.layout().temporary_blobs()), event.tally(Op::BlobSync).count), (0, 0));
    let Some(CachedPath::File(known, Held::File(bytes))) =
        store.lookup_cached(of, "a/b.bin", now, &mut event).await.unwrap()
    else {
        panic!("it is not there")
    };
    let mut read = Vec::new();
    (&*bytes).read_to_end(&mut read).unwrap();
    assert_eq!((read, &*known), (large.to_vec(), &file));
    store.confirm_cached(of, "a/b.bin", Millis(9), &mut event).await.unwrap();
    let listed = store.cached_files(of, "a/", "", 9, &mut event).await.unwrap();
    assert_eq!((listed.len(), listed[0].1.checked, listed[0].1.fetched), (1, Millis(9), now));
    store.close();
    RealDisk.unlink(&store.layout().cache()).unwrap();
    drop(store);
    let store = open(folder.path());
    assert!(store.lookup_cached(of, "a/b.bin", now, &mut event).await.unwrap().is_none());
    while files(&store.layout().cached()) > 1 {
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_unit_that_was_refreshed_voids_what_was_answered_from_it_by_groups_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for (name, members) in [("central", &[][..]), ("all", &["central"])] {
        store.commit(batch(vec![], vec![repository(0, name, members, false)]), &mut job()).await.unwrap();
    }
    let stamp = |id, unit| store.revisions().stamp([Unit::Of(RepositoryId(id), unit)], Millis(i64::MAX));
    let (own, group, other) = (stamp(1, "a/b"), stamp(2, "a/b"), stamp(2, "a/c"));
    store.upstream_changed(RepositoryId(1), "a/b");
    let holds = |stamp| store.revisions().holds(&stamp, Millis(1));
    assert_eq!((holds(own), holds(group), holds(other)), (false, false, true));
}
