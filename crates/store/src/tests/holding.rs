//! The size of repositories, in each catalog.

use super::same::assert_same;
use crate::truth::suite::{R, entry, made, publish, withdraw};
use crate::{Catalog, Change, Hashes, Holding, RepositoryId, Seq, State};

/// A file in the folder of a version.
pub(crate) fn file(path: &str, bytes: &[u8], state: State) -> Change {
    let folder = path.rsplit_once('/').unwrap().0.to_owned();
    let entry =
        crate::Entry { key: path.into(), hashes: Hashes::of(bytes), unit: folder, line: None, ..entry("x", 1, state) };
    Change::Entry { repository: RepositoryId(7), entry }
}

pub(crate) fn a_catalog_always_knows_how_much_each_repository_holds(
    mut catalog: impl Catalog,
    mut other: impl Catalog,
) {
    assert_eq!(catalog.holding(R).unwrap(), Holding::default());
    made(&mut catalog, vec![publish("a", 1), publish("a", 2), publish("b", 1), withdraw("c", 1)]);
    assert_eq!(catalog.holding(R).unwrap(), Holding { files: 3, size_bytes: 9, packages: 2 });
    made(&mut catalog, vec![withdraw("a", 1), withdraw("a", 1), withdraw("b", 1), publish("a", 2)]);
    assert_eq!(catalog.holding(R).unwrap(), Holding { files: 1, size_bytes: 3, packages: 1 });
    let file_of_1 = "org/lamp/1.0/lamp-1.0.zip";
    made(&mut catalog, vec![file(file_of_1, b"12", State::Live), file("org/lamp/2.0/lamp-2.0.zip", b"1", State::Live)]);
    made(&mut catalog, vec![file(file_of_1, b"12345", State::Live), file("org/x", b"1", State::Live)]);
    let held = |size_bytes, files, packages| (RepositoryId(7), Holding { files, size_bytes, packages });
    assert_eq!(catalog.holdings().unwrap()[1..], [held(7, 3, 1)]);
    made(&mut catalog, vec![file(file_of_1, b"12345", State::Withdrawn)]);
    assert_eq!(catalog.holdings().unwrap()[1..], [held(2, 2, 1)]);
    other.replay(&catalog.journal(Seq(0), 99).unwrap()).unwrap();
    assert_same(&mut catalog, &mut other);
}
