//! A folder that a later version converted: this program says so, tells the way back, and changes nothing.

use crate::world::{FIRST, Gem, World, program, write};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Has a folder whose server is stopped be one that version 0.2.0 converted to a later form of the database.
pub(crate) fn of_later_version(data: &Path) {
    let truth = rusqlite::Connection::open(data.join("truth.sqlite")).unwrap();
    truth.execute_batch("PRAGMA user_version = 5; PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
    truth.close().unwrap();
    write(&data.join("opened-by"), "0.2.0\n");
}

/// All files below a folder with their bytes. Locks are empty files.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        if entry.file_type().unwrap().is_dir() {
            all.extend(files(&entry.path()));
        } else {
            all.insert(entry.path(), std::fs::read(entry.path()).unwrap());
        }
    }
    all.into_iter().filter(|(path, _)| !path.ends_with("events/last-words.json")).collect()
}

#[test]
fn each_command_refuses_a_folder_of_a_later_form_with_the_way_back_which_works() {
    let mut world = World::start();
    let (data, copies) = (world.data(), tempfile::tempdir().unwrap());
    let (backup, later, empty) =
        (copies.path().join("backup"), copies.path().join("later"), copies.path().join("empty"));
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let gem = world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(200).body;
    for target in [&backup, &later] {
        assert!(program(&["backup", &path(target), "--data", &path(&data)]).output().unwrap().status.success());
    }
    world.stop();
    let opened_by = std::fs::read_to_string(data.join("opened-by")).unwrap();
    assert_eq!(opened_by, concat!(env!("CARGO_PKG_VERSION"), "\n"));
    of_later_version(&data);
    of_later_version(&later);
    let before = files(&data);

    let with = |line: &str| -> Vec<String> {
        let words = line.split(' ').map(|word| match word {
            "DATA" => path(&data),
            "NEW" => path(&copies.path().join("new")),
            "LATER" => path(&later),
            "EMPTY" => path(&empty),
            word => word.to_owned(),
        });
        words.collect()
    };
    for line in [
        "serve --listen 127.0.0.1:0 --data DATA",
        "init --data DATA",
        "check --data DATA",
        "backup NEW --data DATA",
        "rebuild --data DATA",
        "upgrade --rehearse --data DATA",
        "repair clock --clock-is-right --data DATA",
        "restore LATER --data EMPTY",
        "check --data LATER",
    ] {
        let words = with(line);
        let mut json = words.clone();
        json.push("--json".to_owned());
        let said = program(&json.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap();
        assert_eq!(said.status.code(), Some(1), "{line}: {said:?}");
        let failure = String::from_utf8(said.stderr).unwrap();
        // A server tells what it does in its log before.
        let failure: serde_json::Value = serde_json::from_str(&failure[failure.find('{').unwrap()..]).unwrap();
        let (error, hint) = (failure["error"].as_str().unwrap(), failure["hint"].as_str().unwrap());
        let folder = if line.contains("LATER") { &later } else { &data };
        let told = format!(
            "daylight 0.2.0 wrote the folder `{}`: its database has the form `5`, and this is daylight {}, which reads forms up to 4",
            folder.display(),
            env!("CARGO_PKG_VERSION")
        );
        assert!(error.contains(&told), "{line}: {error}");
        assert!(hint.contains("`daylight restore BACKUP --data EMPTY_FOLDER`"), "{line}: {hint}");
    }
    assert_eq!(files(&data), before, "a refused folder was changed");
    assert!(!empty.exists() && !copies.path().join("new").exists());

    std::fs::rename(&data, copies.path().join("newer")).unwrap();
    assert!(program(&["restore", &path(&backup), "--data", &path(&data)]).output().unwrap().status.success());
    world.resume();
    assert_eq!(world.anon().file(FIRST, "gems/lamp-1.0.0.gem").expect(200).body, gem);
}
