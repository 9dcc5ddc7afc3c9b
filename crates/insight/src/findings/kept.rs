//! The file of states and history. A restart goes on with it.

use super::history::History;
use super::promises::Promises;
use super::state::Entry;
use crate::disk::{self, NewFile};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;
use telemetry::Log;

/// The largest file that is written, in bytes. Until it fits, the cheaper half of the advice goes that nobody took if promises take more than half
/// of it, and else the older half of the history.
const WRITE_MAX: usize = 1 << 20;
/// The largest file that is read, in bytes.
const READ_MAX: u64 = 4 << 20;
/// The version of its format. Files of others are not read.
const VERSION: u32 = 1;

/// The content of the file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    version: u32,
    /// The findings that are pending or open.
    pub(super) entries: Vec<Entry>,
    /// Those of the past.
    pub(super) history: History,
    /// What their advice promises, and what came of it.
    #[serde(default)]
    pub(super) promises: Promises,
}

impl Kept {
    pub(super) fn new(entries: Vec<Entry>, history: History, promises: Promises) -> Self {
        Self { version: VERSION, entries, history, promises }
    }

    /// Reads the file of the process before. Without one, or if it cannot be read, nothing is known of the past; the latter is logged.
    pub(super) fn load(path: &Path, log: &Log) -> Self {
        let read = || -> io::Result<Self> {
            if let Some(folder) = path.parent() {
                disk::open_folder(folder)?;
            }
            let kept: Self = serde_json::from_slice(&disk::read(path, READ_MAX)?)?;
            if kept.version != VERSION {
                return Err(io::Error::other(format!(
                    "it has version {}, and this program reads {VERSION}",
                    kept.version
                )));
            }
            Ok(kept)
        };
        match read() {
            Ok(kept) => kept,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(error) => {
                let fields: &[(&str, &dyn std::fmt::Display)] = &[("file", &path.display()), ("why", &error)];
                log.warn("the states of findings cannot be read, so they begin without a past", fields);
                Self::default()
            }
        }
    }

    /// Writes the file. It replaces the one before when it is complete.
    pub(super) fn save(mut self, path: &Path) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(&self)?;
        while bytes.len() > WRITE_MAX {
            let is_large = serde_json::to_vec(&self.promises)?.len() > WRITE_MAX / 2;
            if !(is_large && self.promises.halve()) {
                if self.history.is_empty() {
                    break;
                }
                self.history.halve();
            }
            bytes = serde_json::to_vec(&self)?;
        }
        let mut file = NewFile::begin(path)?;
        file.write_all(&bytes)?;
        file.finish().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{Change, FindingKind, Guard, Lost, Problem};
    use super::super::found::Found;
    use super::super::state::States;
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;
    use telemetry::{EventId, Millis, Tick};

    fn found(subject: String, sentence: String) -> Found {
        let change = Change {
            setting: Some("store.readers".to_owned()),
            from: Some(json!(2)),
            to: Some(json!(8)),
            live: false,
            command: None,
            turns: None,
            advised: None,
        };
        Found {
            id: format!("readers@{subject}"),
            key: "readers".to_owned(),
            kind: FindingKind::Cause,
            after: Duration::ZERO,
            keeps: Duration::ZERO,
            problem: Problem {
                subject,
                lost: Lost::of([("central", 12.5)]),
                confidence: 0.9,
                sentence,
                changes: vec![change],
                evidence: json!({ "measures": ["count"] }),
                event: Some(EventId(77)),
                guards: vec![Guard::passed("enough requests", 100)],
                saves: None,
            },
        }
    }

    #[test]
    fn states_and_history_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("findings").join("findings.json");
        let log = Log::silent();
        assert_eq!(Kept::load(&path, &log), Kept::default(), "nothing was written yet");
        let mut states = States::default();
        states.look(vec![found("one".to_owned(), "It is slow".to_owned())], Millis(1000), Tick(1));
        states.look(vec![found("two".to_owned(), "It is slow".to_owned())], Millis(2000), Tick(2));
        let entries: Vec<Entry> = states.entries.values().cloned().collect();
        assert_eq!((entries.len(), states.history.closed().count()), (1, 1));
        Kept::new(entries.clone(), states.history.clone(), Promises::default()).save(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let kept = Kept::load(&path, &log);
        assert_eq!(kept.history, states.history);
        assert_eq!(kept.entries[0].finding, entries[0].finding);
        assert_eq!(kept.entries[0].lost, entries[0].lost);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test damages a file")]
    fn a_torn_file_and_one_of_another_version_are_no_past() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("findings.json");
        for text in ["", "{", "[]", r#"{"version":2,"entries":[],"history":{"opened":[],"pending":[]}}"#, "\u{0}\u{0}"]
        {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Kept::load(&path, &Log::silent()), Kept::default(), "{text:?}");
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(Kept::load(&path, &Log::silent()), Kept::default());
    }

    #[test]
    fn the_file_is_bounded_by_dropping_the_older_past() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("findings.json");
        let mut states = States::default();
        for at in 0..400 {
            let found = found(format!("subject-{at}"), "x".repeat(8 << 10));
            states.look(vec![found], Millis(1000 * at), Tick(at.cast_unsigned()));
        }
        let save = |history: &History, promises: &Promises| {
            Kept::new(Vec::new(), history.clone(), promises.clone()).save(&path).unwrap();
            assert!(path.metadata().unwrap().len() as usize <= WRITE_MAX);
            Kept::load(&path, &Log::silent())
        };
        let newest = save(&states.history, &Promises::default()).history.closed().next().unwrap();
        assert_eq!(newest.subject, "subject-398");
        // Advice alone is too large.
        let large = Promises::staged(150, 8 << 10);
        let kept = save(&History::default(), &large);
        assert!(kept.promises != Promises::default() && kept.promises != large);
    }
}
