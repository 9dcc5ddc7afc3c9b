//! What the clients of one history sent and were told, with the moments.

use super::judge::{History, Listing, Moment, Outcome, Read, Write};
use crate::world::Answer;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

/// Grows while clients work.
pub(super) struct Record {
    began: Instant,
    /// Whether other nodes may learn of a change after its acknowledgement.
    is_late_allowed: bool,
    history: Mutex<History>,
    /// Gems and files that somebody has tried to write, and that readers look for.
    wanted: Mutex<Vec<Wanted>>,
    acknowledged: AtomicUsize,
    answered: AtomicUsize,
}

/// Something that readers look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    Gem { name: String, version: String },
    File { repository: String, path: String },
    Setting,
}

impl Wanted {
    /// The name under which the judge knows it.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Gem { name, version } => format!("gem {name} {version}"),
            Self::File { repository, path } => format!("file {repository} {path}"),
            Self::Setting => "setting".to_owned(),
        }
    }
}

impl Record {
    pub(super) fn new(history: History) -> Self {
        let (acknowledged, answered) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let is_late_allowed = !history.grace.is_zero();
        Self {
            began: Instant::now(),
            is_late_allowed,
            history: Mutex::new(history),
            wanted: Mutex::new(Vec::new()),
            acknowledged,
            answered,
        }
    }

    /// Whether a node may know a change only some time after its acknowledgement.
    pub(super) fn is_late_allowed(&self) -> bool {
        self.is_late_allowed
    }

    pub(super) fn now(&self) -> Moment {
        self.began.elapsed()
    }

    /// How many changes were acknowledged so far.
    pub(super) fn acknowledged(&self) -> usize {
        self.acknowledged.load(SeqCst)
    }

    /// How many reads had an answer by now.
    pub(super) fn answered(&self) -> usize {
        self.answered.load(SeqCst)
    }

    /// Everything that readers may look for by now.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        self.wanted.lock().unwrap().clone()
    }

    /// Sends a change, and writes down what came of it. Returns whether it was acknowledged.
    pub(super) fn write(
        &self,
        wanted: &Wanted,
        value: Option<String>,
        send: impl FnOnce() -> io::Result<Answer>,
    ) -> bool {
        let mut known = self.wanted.lock().unwrap();
        if !known.contains(wanted) {
            known.push(wanted.clone());
        }
        drop(known);
        let sent = self.now();
        let outcome = match send() {
            Ok(answer) if (200..300).contains(&answer.status) => Outcome::Acknowledged(self.now()),
            Ok(answer) if answer.status == 409 => Outcome::Refused,
            // A node that has not learned of its subject yet, or says that it may lack it.
            Ok(answer) if answer.status == 404 && (self.is_late_allowed || !is_fresh(&answer)) => Outcome::Refused,
            Ok(answer) if answer.status < 500 => panic!("{wanted:?} = {value:?}: {answer:?}"),
            // What could not be done now may be done yet, as a broken connection tells nothing.
            Ok(_) | Err(_) => Outcome::Unknown,
        };
        self.history.lock().unwrap().writes.push(Write { key: wanted.key(), value, sent, outcome });
        let is_done = matches!(outcome, Outcome::Acknowledged(_));
        self.acknowledged.fetch_add(usize::from(is_done), SeqCst);
        is_done
    }

    /// Writes down what a node said of a key to a request that was sent at this moment.
    pub(super) fn read(&self, node: usize, wanted: &Wanted, sent: Moment, answer: &Answer, value: Option<String>) {
        let (key, answered, is_fresh) = (wanted.key(), self.now(), is_fresh(answer));
        let read = Read { node, key, value, sent, answered, is_fresh };
        self.history.lock().unwrap().reads.push(read);
        self.answered.fetch_add(1, SeqCst);
    }

    /// Writes down the `/versions` that a node sent.
    pub(super) fn listing(&self, node: usize, sent: Moment, answer: &Answer) {
        let (answered, is_fresh, text) = (self.now(), is_fresh(answer), answer.text().to_owned());
        self.history.lock().unwrap().listings.push(Listing { node, sent, answered, is_fresh, text });
        self.answered.fetch_add(1, SeqCst);
    }

    /// All of it, when the clients have ended.
    pub(super) fn end(self) -> History {
        self.history.into_inner().unwrap()
    }
}

/// Whether an answer claims to be the present state.
pub(super) fn is_fresh(answer: &Answer) -> bool {
    answer.header("daylight-stale").is_none()
}
