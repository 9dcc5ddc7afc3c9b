//! The writers of these tests write what the gems themselves wrote: the tables beside the readers were recorded by running response_bank and
//! cacheable.

use crate::world::{Memcached, write};
use serde_json::Value;
use std::process::Command;

const ENTRIES: &str = include_str!("../../crates/format/src/page/recorded/entries.jsonl");
const KEYS: &str = include_str!("../../crates/format/src/page/recorded/keys.jsonl");
/// The releases that `writer.rb` writes like.
const FORMS: [&str; 3] = ["1.1.0", "1.3.6", "1.6.0"];

#[test]
fn the_writers_put_the_bytes_into_memcached_that_response_bank_and_cacheable_put_there() {
    let (memcached, folder) = (Memcached::start(), tempfile::tempdir().unwrap());
    for (name, text) in [
        ("replay.rb", include_str!("replay.rb")),
        ("writer.rb", include_str!("writer.rb")),
        ("keys.rb", include_str!("keys.rb")),
        ("entries.jsonl", ENTRIES),
        ("keys.jsonl", KEYS),
    ] {
        write(&folder.path().join(name), text);
    }
    let mut ruby = Command::new("/usr/bin/ruby");
    ruby.args(["replay.rb", "entries.jsonl", &memcached.authority(), "keys.jsonl"]).current_dir(&folder).env_clear();
    let replayed = ruby.env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8").output().unwrap();
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
    let keys: usize = String::from_utf8(replayed.stdout).unwrap().parse().unwrap();
    assert!(keys >= 90, "{keys} keys were compared");

    let mut compared = [0; FORMS.len()];
    for (number, row) in ENTRIES.lines().filter(|line| !line.starts_with('#')).enumerate() {
        let row: Value = serde_json::from_str(row).unwrap();
        let Some(form) = FORMS.iter().position(|form| row["form"] == *form) else { continue };
        let Some(entry) = row["entry"].as_str() else { continue };
        let (flags, value) = memcached.get(&format!("{number}:{}", row["key"].as_str().unwrap())).expect("the entry");
        assert_eq!((flags, &*crate::world::hex(&value)), (0, entry), "{row}");
        compared[form] += 1;
    }
    assert!(compared.iter().all(|count| *count >= 6), "{compared:?}");
}
