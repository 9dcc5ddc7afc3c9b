//! Runs the corpora of the fuzz targets through the same functions, so that fixed faults stay fixed.

#[expect(clippy::expect_used, reason = "a target panics when something does not hold")]
#[path = "../fuzz/src/targets.rs"]
pub(crate) mod targets;

use std::fs;
use std::path::{Path, PathBuf};

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("fuzz/corpus")
}

#[test]
fn every_input_of_the_corpora_holds() {
    for (name, target) in targets::ALL {
        let inputs: Vec<_> = fs::read_dir(corpora().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!inputs.is_empty(), "{name} has no corpus");
        for input in inputs {
            println!("{}", input.display());
            target(&fs::read(&input).unwrap());
        }
    }
}

#[test]
fn every_corpus_has_a_target() {
    for folder in fs::read_dir(corpora()).unwrap() {
        let name = folder.unwrap().file_name();
        assert!(targets::ALL.iter().any(|(target, _)| name == *target), "{name:?} is nobody's corpus");
    }
}
