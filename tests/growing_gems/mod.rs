//! Gem repositories that grow: every index is whole at each step, damaged ones heal, and `/versions` and `/info` change
//! together.

mod damaged;
mod growth;
mod together;

use crate::world::Person;
use flate2::read::GzDecoder;
use std::io::Read;

const GROUP: &str = "all-gems";
/// The files that are made from saved data.
const FILES: [&str; 5] = ["versions", "names", "specs.4.8.gz", "latest_specs.4.8.gz", "prerelease_specs.4.8.gz"];

/// The decoded content of a file of a repository, with and without gzip.
fn decoded(person: &Person, repository: &str, file: &str) -> Vec<u8> {
    let path = format!("/repository/{repository}/{file}");
    let plain = person.get(&path).expect(200).body;
    if file.ends_with(".gz") {
        return gunzip(&plain);
    }
    let packed = person.ask("GET", &path, &[("Accept-Encoding", "gzip")], b"").expect(200);
    if packed.header("content-encoding") == Some("gzip") {
        assert!(gunzip(&packed.body) == plain, "{path} has other bytes with gzip");
    }
    plain
}

/// The content of a gzip file, which has its end and its checksum.
fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let (mut decoder, mut plain) = (GzDecoder::new(bytes), Vec::new());
    decoder.read_to_end(&mut plain).unwrap();
    assert!(decoder.into_inner().is_empty(), "bytes after the end");
    plain
}
