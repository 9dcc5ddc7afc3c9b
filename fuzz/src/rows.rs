//! Parsers of stored data: settings, journal rows, segments, facts.

use super::{packages, text};
use daylight::config::{self, Environment, Machine};
use format::gem::Package;
use std::cell::RefCell;
use std::io::{Seek as _, Write as _};
use store::{JournalReads as _, JournalRow, Model, Seq, Transactions as _};
use tempfile::NamedTempFile;

thread_local! {
    static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a temporary file"));
}

/// A settings file: each accepted setting can be shown, and each error has a message.
pub(crate) fn config(bytes: &[u8]) {
    FILE.with_borrow_mut(|file| {
        let handle = file.as_file_mut();
        handle.set_len(0).and_then(|()| handle.rewind()).and_then(|()| handle.write_all(bytes)).expect("a disk");
        let machine = Machine { cores: 2, memory_bytes: 1 << 30, descriptors: 1024, disk_bytes: None };
        match config::load(Some(file.path()), &Environment::default(), &[], machine) {
            Ok((_, loaded)) => assert!(!loaded.entries.is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

/// A row of the journal: a parsed row is rendered to the same text, and can be replayed.
pub(crate) fn journal(bytes: &[u8]) {
    let Ok(mut row) = serde_json::from_slice::<JournalRow>(bytes) else { return };
    let written = serde_json::to_string(&row).expect("JSON");
    assert_eq!(serde_json::from_str::<JournalRow>(&written).expect("the rendered row"), row);
    row.seq = Seq(1);
    let mut model = Model::default();
    if model.replay(std::slice::from_ref(&row)).is_ok() {
        assert_eq!(model.journal(Seq(0), 2).expect("a model"), [row]);
    }
}

/// A segment, with its name in the first line. Its rows are read in order, or it is refused.
pub(crate) fn segment(bytes: &[u8]) {
    let Some((name, body)) = text(bytes).and_then(|text| text.split_once('\n')) else { return };
    let Some(Ok(rows)) = store::segment(name, body.as_bytes()) else { return };
    assert!(rows.windows(2).all(|pair| pair[0].seq.0 + 1 == pair[1].seq.0));
    assert_eq!(rows.len(), body.lines().count());
}

/// The facts of a row: those of any version can be parsed, and rendered.
pub(crate) fn facts(bytes: &[u8]) {
    let Ok(package) = serde_json::from_slice::<Package>(bytes) else { return };
    let written = serde_json::to_string(&package).expect("JSON");
    assert_eq!(serde_json::from_str::<Package>(&written).expect("the rendered facts"), package);
    // Facts are trusted: only those of an accepted package are ever written.
    if format::gem::name::check(&package.name).is_ok()
        && format::gem::Version::published(package.number.as_str()).is_ok()
    {
        let plain = package.dependencies.iter().all(|dependency| format::gem::name::plain(&dependency.name));
        if plain && format::gem::name::check_platform(&package.platform).is_ok() && !package.platform.is_empty() {
            packages::indexed(&package);
        }
    }
}
