//! Whether object storage can be used, and what was wrong with it since the start.

use crate::blobs::digest::Digest;
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::objects::bell::Bell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use telemetry::log::Causes;
use telemetry::{Clock, Log, Metric, Millis, Recorder, lock};

/// The most missing or damaged objects of which the log tells each once.
const TOLD_MAX: usize = 1_000;

/// The state of object storage, as the last operation found it.
#[derive(Debug)]
pub struct ObjectsState {
    url: String,
    clock: Clock,
    log: Log,
    /// Rung when an operation fails: the thread of object storage tries until one succeeds.
    bell: Arc<Bell>,
    is_away: AtomicBool,
    /// Whether a write failed.
    by_write: AtomicBool,
    /// Since when it cannot be used, and why.
    away: Mutex<Option<(Millis, String)>>,
    /// The causes that the log has since then.
    causes: Causes,
    /// Blobs that were missing or damaged, and of which the log has told.
    told: Mutex<HashSet<Digest>>,
    pub(crate) failed: AtomicU64,
    pub(crate) missing: AtomicU64,
    pub(crate) damaged: AtomicU64,
    /// The last change that is in a segment in object storage.
    pub(crate) copied: AtomicU64,
}

impl ObjectsState {
    pub(crate) fn new(url: String, clock: Clock, log: Log, bell: Arc<Bell>) -> Self {
        Self {
            url,
            clock,
            log,
            bell,
            is_away: AtomicBool::default(),
            by_write: AtomicBool::default(),
            away: Mutex::default(),
            causes: Causes::default(),
            told: Mutex::default(),
            failed: AtomicU64::default(),
            missing: AtomicU64::default(),
            damaged: AtomicU64::default(),
            copied: AtomicU64::default(),
        }
    }

    /// Registers the figures.
    pub(crate) fn register(self: &Arc<Self>, recorder: &Recorder) {
        let figure = |metric, read: fn(&Self) -> u64| {
            let of = self.clone();
            recorder.figure(metric, move || read(&of) as f64);
        };
        let doc = "1 while object storage cannot be used: uploads are refused, and so are reads of blobs that are not on the disk";
        figure(Metric::gauge("objects_away", doc), |of| of.is_away().into());
        let doc = "Operations on object storage that failed";
        figure(Metric::counter("objects_failed_total", doc), |of| of.failed.load(Ordering::Relaxed));
        let doc = "Reads of blobs that a row names and that object storage did not have";
        figure(Metric::counter("objects_missing_total", doc), |of| of.missing.load(Ordering::Relaxed));
        let doc = "Answers of object storage with other bytes than those of the blob; they were not used";
        figure(Metric::counter("objects_damaged_total", doc), |of| of.damaged.load(Ordering::Relaxed));
        let doc = "Number of the last change that is in a segment in object storage";
        figure(Metric::gauge("objects_journal_seq", doc), |of| of.copied.load(Ordering::Relaxed));
    }

    /// The number of the last change that is in a segment there.
    pub fn copied(&self) -> Seq {
        Seq(self.copied.load(Ordering::Relaxed))
    }

    /// The place: `s3://BUCKET/PREFIX`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether the last operation failed.
    pub fn is_away(&self) -> bool {
        self.is_away.load(Ordering::Relaxed)
    }

    /// Since when operations fail, and why the last of them did.
    pub fn away(&self) -> Option<(Millis, String)> {
        lock(&self.away).clone()
    }

    /// Notes how an operation ended. After a write failed, reads that succeed do not tell that it can be used again.
    pub(crate) fn note<T>(&self, done: &Result<T>, writes: bool) {
        match done {
            Ok(_) => {
                if self.is_away() && (writes || !self.by_write.load(Ordering::Relaxed)) {
                    self.is_away.store(false, Ordering::Relaxed);
                    if lock(&self.away).take().is_some() {
                        self.causes.forget();
                        self.log.info("object storage can be used again", &[("url", &self.url)]);
                    }
                }
            }
            Err(Error::ObjectsAway { cause, .. } | Error::ObjectsRefuse { cause, .. }) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                let mut away = lock(&self.away);
                let before = away.take();
                let since = before.as_ref().map_or_else(|| self.clock.now(), |(since, _)| *since);
                *away = Some((since, cause.clone()));
                if self.causes.is_new(cause) {
                    let text = match before {
                        None => "object storage cannot be used: uploads are refused until it can",
                        Some(_) => "object storage still cannot be used, for another cause than before",
                    };
                    self.log.error(text, &[("url", &self.url), ("cause", cause)]);
                }
                if before.is_none() {
                    self.by_write.store(false, Ordering::Relaxed);
                    self.bell.ring();
                }
                self.by_write.fetch_or(writes, Ordering::Relaxed);
                self.is_away.store(true, Ordering::Relaxed);
            }
            Err(_) => {}
        }
    }

    /// Tells of changes that the database has lost.
    pub(crate) fn puts_back(&self, first: Seq, last: Seq) {
        let text = "the database lacks changes that segments in object storage have: they are put back";
        self.log.warn(text, &[("first", &first.0), ("last", &last.0)]);
    }

    /// Tells of a blob that object storage should have and does not.
    pub(crate) fn is_missing(&self, digest: &Digest, key: &str) -> Error {
        self.missing.fetch_add(1, Ordering::Relaxed);
        self.tell_once(digest, key, "object storage lacks an object that a row names");
        Error::ObjectMissing { url: self.url.clone(), key: key.to_owned() }
    }

    /// Tells of a blob instead of which object storage sent other bytes.
    pub(crate) fn is_damaged(&self, digest: &Digest, key: &str) -> Error {
        self.damaged.fetch_add(1, Ordering::Relaxed);
        self.tell_once(digest, key, "object storage sent other bytes than those of the object; they are not used");
        Error::ObjectDamaged { url: self.url.clone(), key: key.to_owned() }
    }

    fn tell_once(&self, digest: &Digest, key: &str, text: &'static str) {
        let mut told = lock(&self.told);
        if told.len() < TOLD_MAX && told.insert(*digest) {
            self.log.error(text, &[("url", &self.url), ("key", &key)]);
        }
    }
}
