//! Rehearsals of an upgrade, and folders that earlier versions wrote.

use super::{job, keep, open, options, publication};
use crate::disk::{Disk, RealDisk};
use crate::truth::sqlite::as_written_by_form;
use crate::truth::suite::{R, batch, withdraw};
use crate::{Error, Lane, Layout, Rehearsal, Seq, Sqlite, State, Store, backup, check, rebuild, rehearse, restore};
use std::collections::BTreeMap;
use std::path::Path;

/// A folder with some changes whose truth has the form of an earlier version.
async fn folder_of_form(data: &Path, form: u32) {
    let store = open(data);
    for number in 1..4 {
        let (bytes, change) = publication("rack", number);
        keep(&store, &bytes).await.unwrap();
        store.commit(batch(vec![], vec![change]), &mut job()).await.unwrap();
    }
    store.commit(batch(vec![], vec![withdraw("rack", 2)]), &mut job()).await.unwrap();
    store.close();
    as_written_by_form(&Layout::new(data).truth(), form);
    if form < 4 {
        // The rows differ from those of its segments. The next start writes the segments again.
        let segments = Layout::new(data).segments();
        RealDisk.list(&segments).unwrap().iter().for_each(|name| RealDisk.unlink(&segments.join(name)).unwrap());
    }
}

/// Every file of a folder, without locks and the empty files that SQLite makes when a database is read.
fn files(data: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![data.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.display().to_string();
            if path.is_dir() {
                files.insert(name, Vec::new());
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let of_reader = name.ends_with("-shm") || (name.ends_with("-wal") && bytes.is_empty());
            if !name.ends_with(".lock") && !of_reader {
                files.insert(name, bytes);
            }
        }
    }
    files
}

async fn states(store: &Store) -> Vec<State> {
    let unit = store.unit(R, "rack", Lane::Change, &mut job()).await.unwrap();
    unit.entries.into_iter().map(|entry| entry.state).collect()
}

#[tokio::test]
async fn an_upgrade_of_every_earlier_form_is_rehearsed_and_changes_nothing() {
    for form in 1..=4 {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        folder_of_form(&data, form).await;
        let before = files(&data);
        let Rehearsal { seq, form_before, form_after, differing, .. } = rehearse(&data, &mut |_| ()).unwrap();
        assert_eq!((seq, form_before, form_after), (Seq(4), form, 4));
        assert_eq!(differing, Vec::<String>::new(), "form {form}");
        assert_eq!(files(&data), before, "form {form}");
    }
}

#[tokio::test]
async fn a_table_that_is_not_what_the_journal_says_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    folder_of_form(&data, 4).await;
    let truth = Sqlite::writer(&Layout::new(&data).truth()).unwrap();
    truth.damage("UPDATE unit SET live = live + 1");
    drop(truth);
    assert_eq!(rehearse(&data, &mut |_| ()).unwrap().differing, ["unit"]);
    assert!(matches!(rehearse(folder.path(), &mut |_| ()), Err(Error::NoTruth { .. })));
}

#[tokio::test]
async fn a_folder_of_every_earlier_form_is_backed_up_opened_restored_and_rebuilt() {
    for form in 1..=4 {
        let folder = tempfile::tempdir().unwrap();
        let [data, target, again] = ["data", "target", "again"].map(|name| folder.path().join(name));
        folder_of_form(&data, form).await;
        // This also works before this version has opened it.
        assert_eq!(backup(&data, &target, false, &mut |_| ()).unwrap().seq, Seq(4));
        assert_eq!(check(&target, true, &mut |_| ()).unwrap().problems, []);
        let store = open(&data);
        let expected = [State::Live, State::Withdrawn, State::Live];
        assert_eq!(states(&store).await, expected);
        let (bytes, change) = publication("rack", 4);
        keep(&store, &bytes).await.unwrap();
        store.commit(batch(vec![], vec![change]), &mut job()).await.unwrap();
        assert_eq!(backup(&data, &target, false, &mut |_| ()).unwrap().new_blobs, 1);
        drop(store);
        restore(&target, &again, &mut |_| ()).unwrap();
        assert_eq!(rebuild(&again, &mut |_| ()).unwrap().last, Seq(5));
        let store = Store::open(options(&again)).unwrap();
        assert_eq!(states(&store).await.len(), 4, "form {form}");
        assert_eq!(store.check(true, &mut |_| ()).unwrap().problems, []);
    }
}
