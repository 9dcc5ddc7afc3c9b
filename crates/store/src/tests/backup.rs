//! Backups, and folders restored from them.

use super::same::assert_same;
use super::{job, keep, open, publication};
use crate::backup::Transfer;
use crate::disk::{Disk, RealDisk};
use crate::truth::suite::{R, batch, withdraw};
use crate::{
    Arrival, BackedUp, CachedFile, CachedPath, Digest, Error, Hashes, Held, Layout, Origin, Restored, Seq, Sqlite,
    Store, backup, check, restore,
};
use bytes::Bytes;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use telemetry::Millis;

struct Folders {
    _folder: tempfile::TempDir,
    data: PathBuf,
    target: PathBuf,
    again: PathBuf,
}

fn folders() -> Folders {
    let folder = tempfile::tempdir().unwrap();
    let [data, target, again] = ["data", "target", "again"].map(|name| folder.path().join(name));
    Folders { _folder: folder, data, target, again }
}

async fn publish(store: &Store, number: u32) {
    let (bytes, change) = publication("rack", number);
    keep(store, &bytes).await.unwrap();
    store.commit(batch(vec![], vec![change]), &mut job()).await.unwrap();
}

/// A served folder with two entries.
async fn two(data: &Path) -> Arc<Store> {
    let store = open(data);
    publish(&store, 1).await;
    publish(&store, 2).await;
    store
}

fn back_up(folders: &Folders) -> BackedUp {
    backup(&folders.data, &folders.target, false, &mut |_| ()).unwrap()
}

fn restored(folders: &Folders) -> Restored {
    restore(&folders.target, &folders.again, &mut |_| ()).unwrap()
}

fn problems(data: &Path) -> Vec<String> {
    let report = check(data, true, &mut |_| ()).unwrap();
    assert_eq!(report.orphans.blobs, 0);
    report.problems.iter().map(ToString::to_string).collect()
}

fn blob(data: &Path, key: &str) -> PathBuf {
    Layout::new(data).blob(&Hashes::of(key.as_bytes()).sha256).file
}

fn inode(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().ino()
}

#[tokio::test]
async fn the_data_folder_knows_its_last_backup_and_is_backed_up_where_that_cannot_be_noted() {
    let folders = folders();
    let store = two(&folders.data).await;
    let layout = Layout::new(&folders.data);
    assert_eq!(layout.last_backup_seconds(), 0);
    let first = back_up(&folders).seq;
    let noted = || std::fs::read_to_string(folders.data.join("backed-up")).unwrap();
    assert_eq!(noted(), format!("{}\n", first.0));
    assert!(layout.last_backup_seconds() > 0);
    publish(&store, 3).await;
    let second = back_up(&folders).seq;
    assert_eq!((noted(), second > first), (format!("{}\n", second.0), true));

    RealDisk.unlink(&folders.data.join("backed-up")).unwrap();
    std::fs::create_dir(folders.data.join("backed-up")).unwrap();
    assert_eq!(back_up(&folders).seq, second);
    store.close();
}

#[tokio::test]
async fn a_backup_of_a_served_folder_is_checked_restored_and_served_and_the_next_adds_what_is_new() {
    let folders = folders();
    let store = two(&folders.data).await;
    let first = back_up(&folders);
    let expected =
        BackedUp { seq: Seq(2), blobs: 2, size_bytes: 12, new_blobs: 2, new_bytes: 12, ..BackedUp::default() };
    assert_eq!(first, expected);
    assert_eq!(problems(&folders.target), Vec::<String>::new());
    assert_eq!(std::fs::metadata(&folders.target).unwrap().permissions().mode() & 0o777, 0o700);
    publish(&store, 3).await;
    store.commit(batch(vec![], vec![withdraw("rack", 1)]), &mut job()).await.unwrap();
    let second = back_up(&folders);
    assert_eq!((second.seq, second.blobs, second.new_blobs, second.new_bytes), (Seq(4), 3, 1, 6));
    assert_eq!(problems(&folders.target), Vec::<String>::new());
    store.close();
    assert_eq!(back_up(&folders).new_blobs, 0, "the result is the same without a server");
    let Restored { seq, at, blobs, .. } = restored(&folders);
    assert_eq!((seq, at, blobs), (Seq(4), Some(Millis(5)), 3));
    assert_eq!(problems(&folders.again), Vec::<String>::new());
    let [mut before, mut after] =
        [&folders.data, &folders.again].map(|data| Sqlite::writer(&Layout::new(data).truth()).unwrap());
    assert_same(&mut before, &mut after);
    drop(after);
    let again = open(&folders.again);
    publish(&again, 4).await;
    assert_eq!(again.unit(R, "rack", crate::Lane::Change, &mut job()).await.unwrap().entries.len(), 4);
}

#[tokio::test]
async fn blobs_of_a_backup_are_links_and_those_of_a_restored_folder_are_not() {
    let folders = folders();
    let store = two(&folders.data).await;
    back_up(&folders);
    restored(&folders);
    let [data, target, again] = [&folders.data, &folders.target, &folders.again].map(|data| blob(data, "rack-1"));
    assert_eq!(inode(&data), inode(&target));
    assert_ne!(inode(&target), inode(&again));
    // Damaged bytes that were uploaded again are another file, which the next backup copies.
    keep(&store, b"rack-1").await.unwrap();
    assert_ne!(inode(&data), inode(&target));
    back_up(&folders);
    assert_eq!(inode(&data), inode(&target));
    assert_eq!(problems(&folders.target), Vec::<String>::new());
}

#[tokio::test]
async fn on_another_file_system_blobs_are_copied() {
    let folders = folders();
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let folders = Folders { target: memory.path().join("target"), ..folders };
    let _store = two(&folders.data).await;
    let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
    assert_ne!(device(memory.path()), device(folders.data.parent().unwrap()), "two file systems");
    assert_eq!(back_up(&folders).new_blobs, 2);
    assert_eq!(back_up(&folders).new_blobs, 0);
    assert_eq!(problems(&folders.target), Vec::<String>::new());
    restored(&folders);
    assert_eq!(problems(&folders.again), Vec::<String>::new());
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "damage")]
async fn what_an_interrupted_backup_left_is_not_believed_and_goes_if_nothing_names_it() {
    let folders = folders();
    let store = two(&folders.data).await;
    back_up(&folders);
    publish(&store, 3).await;
    // The state after the machine stopped: a name without its bytes, a blob that is missing in the folder, and half of a truth.
    for (key, bytes) in [("rack-3", ""), ("rack-9", "rack-9")] {
        let path = blob(&folders.target, key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    std::fs::write(folders.target.join("unfinished"), "1\n").unwrap();
    std::fs::write(folders.target.join("blobs/tmp/77"), "half").unwrap();
    std::fs::write(folders.target.join("truth.sqlite.new"), "half").unwrap();
    assert_eq!(check(&folders.target, true, &mut |_| ()).unwrap().problems, [], "the previous backup is complete");
    back_up(&folders);
    assert_eq!(problems(&folders.target), Vec::<String>::new());
    assert!(!blob(&folders.target, "rack-9").exists() && !folders.target.join("blobs/tmp/77").exists());
    assert!(!folders.target.join("unfinished").exists());
    // A lost file is also restored, and never by writing to the file of the data folder.
    RealDisk.unlink(&blob(&folders.target, "rack-2")).unwrap();
    assert_eq!(back_up(&folders).new_blobs, 1);
    assert_eq!(problems(&folders.target), Vec::<String>::new());
    drop(store);
    assert_eq!(problems(&folders.data), Vec::<String>::new());
}

#[tokio::test]
async fn a_blob_that_is_missing_is_named_and_all_else_is_backed_up() {
    let folders = folders();
    let _store = two(&folders.data).await;
    RealDisk.unlink(&blob(&folders.data, "rack-1")).unwrap();
    assert_eq!(back_up(&folders).missing, [Hashes::of(b"rack-1").sha256]);
    assert!(blob(&folders.target, "rack-2").exists());
    assert_eq!(restored(&folders).missing, [Hashes::of(b"rack-1").sha256]);
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "not a file of Daylight")]
async fn a_backup_is_only_made_where_it_harms_nothing() {
    let folders = folders();
    let hinted = |error: Error| {
        assert!(error.hint().is_some(), "{error}");
        error
    };
    let to = |target: &Path| hinted(backup(&folders.data, target, false, &mut |_| ()).unwrap_err());
    assert!(matches!(to(&folders.target), Error::NoTruth { .. }));
    let store = two(&folders.data).await;
    assert!(matches!(to(&folders.data.join("inner/folder")), Error::Nested { .. }));
    assert!(matches!(to(folders.data.parent().unwrap()), Error::Nested { .. }));
    std::fs::create_dir(&folders.target).unwrap();
    std::fs::write(folders.target.join("holiday.jpg"), "").unwrap();
    assert!(matches!(to(&folders.target), Error::NotEmpty { found, .. } if found == "holiday.jpg"));
    let file = folders.target.join("holiday.jpg");
    for no_folder in [file.clone(), file.join("inner")] {
        let hint = to(&no_folder).hint().unwrap();
        assert!(hint.contains("name a folder"), "{hint}");
        hinted(restore(&folders.target, &no_folder, &mut |_| ()).unwrap_err());
    }
    RealDisk.unlink(&folders.target.join("holiday.jpg")).unwrap();
    back_up(&folders);
    let no_data_folder = Store::open(super::options(&folders.target)).unwrap_err();
    assert!(matches!(hinted(no_data_folder), Error::IsBackup(_)));
    let of_a_backup = backup(&folders.target, &folders.again, false, &mut |_| ()).unwrap_err();
    assert!(matches!(hinted(of_a_backup), Error::IsBackup(_)));
    assert!(!folders.again.exists());
    // A folder with another history.
    store.close();
    RealDisk.remove_folder(&folders.data).unwrap();
    let store = open(&folders.data);
    for number in [7, 8, 9] {
        publish(&store, number).await;
    }
    assert!(matches!(to(&folders.target), Error::OtherHistory(_)));
    assert_eq!(restored(&folders).seq, Seq(2), "the backup is unchanged");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the state after an interrupted restore")]
async fn a_restore_takes_an_empty_folder_and_an_interrupted_one_is_no_data_folder() {
    let folders = folders();
    let _store = two(&folders.data).await;
    let failed = || restore(&folders.target, &folders.again, &mut |_| ()).unwrap_err();
    assert!(matches!(failed(), Error::NoBackup(_)));
    back_up(&folders);
    std::fs::create_dir(&folders.again).unwrap();
    std::fs::write(folders.again.join("restoring"), "").unwrap();
    assert!(matches!(failed(), Error::Unrestored(_)));
    assert!(matches!(Store::open(super::options(&folders.again)), Err(Error::Unrestored(_))));
    RealDisk.remove_folder(&folders.again).unwrap();
    std::fs::create_dir(&folders.again).unwrap();
    restored(&folders);
    assert!(matches!(failed(), Error::NotEmpty { .. }));
    let nested = restore(&folders.target, &folders.target.join("inner"), &mut |_| ());
    assert!(matches!(nested, Err(Error::Nested { .. })));
}

#[tokio::test]
async fn cached_files_of_upstreams_are_backed_up_on_demand_and_served_after_a_restore() {
    let folders = folders();
    let store = two(&folders.data).await;
    let (of, now) = (Origin::new(R, &[]), Millis(5));
    let large = Bytes::from(vec![7; 100_000]);
    let mut staged = store.stage(&mut job()).await.unwrap();
    staged.write(large.clone(), &mut job()).await.unwrap();
    let file = CachedFile::fetched(staged.hashes().unwrap(), now);
    let arrival = Arrival::Staged(Box::new(staged));
    store.keep_cached(of, "a/b.bin", file, arrival, None, &mut job()).await.unwrap();
    store.settle_cached(&mut job()).await;
    let with_cached = || backup(&folders.data, &folders.target, true, &mut |_| ()).unwrap();
    assert_eq!((with_cached().cached_files, with_cached().cached_files), (1, 1));
    assert_eq!(restored(&folders).cached_files, 1);
    let again = open(&folders.again);
    let found = again.lookup_cached(of, "a/b.bin", now, &mut job()).await.unwrap();
    let Some(CachedPath::File(_, Held::File(bytes))) = found else { panic!("it is not there") };
    let mut read = Vec::new();
    (&*bytes).read_to_end(&mut read).unwrap();
    assert_eq!(read, large);
    assert_eq!(back_up(&folders).cached_files, 0);
    assert!(!folders.target.join("cached").exists() && !folders.target.join("cache.sqlite").exists());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "blobs without a store")]
fn two_threads_may_need_the_same_new_folder_at_once() {
    let folders = folders();
    let (from, to) = (Layout::new(&folders.data), Layout::new(&folders.target));
    std::fs::create_dir_all(to.blobs_by_digest()).unwrap();
    // Each thread takes 256: both come to each of the 256 folders at about the same time.
    let digest = |last: u8, inner: u8| {
        let mut digest = Digest([last; 32]);
        [digest.0[0], digest.0[1]] = [0, inner];
        digest
    };
    let wanted: Vec<_> = (0..2).flat_map(|last| (0..=255).map(move |inner| (digest(last, inner), 1))).collect();
    for (digest, _) in &wanted {
        let place = from.blob(digest);
        std::fs::create_dir_all(&place.inner).unwrap();
        std::fs::write(&place.file, "b").unwrap();
    }
    let done = Transfer::linking(&from, &to).blobs(&wanted, &[], &mut |_| ()).unwrap();
    assert_eq!((done.new_blobs, done.missing.len()), (512, 0));
}
