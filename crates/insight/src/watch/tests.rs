//! The watch with its threads, and the findings that it opens.

use super::{AskSelf, Watch, WatchOptions};
use crate::findings::{FindingState, Findings, FindingsOptions};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use telemetry::{Clock, Log, Millis, Recorder};

struct Watched {
    recorder: Arc<Recorder>,
    findings: Arc<Findings>,
    watch: Arc<Watch>,
}

impl Watched {
    fn begin(ask: Option<AskSelf>) -> Self {
        let clock = Clock::at(Millis(1_700_000_000_000));
        let (recorder, findings, watch) = (Recorder::silent(clock.clone()), Findings::new(), Watch::new());
        findings.begin(FindingsOptions {
            file: None,
            custom: Vec::new(),
            counts: None,
            recorder: recorder.clone(),
            clock: clock.clone(),
            log: Log::silent(),
        });
        let told = findings.clone();
        watch.begin(WatchOptions {
            recorder: recorder.clone(),
            tells: Box::new(move |seen| told.watched(seen)),
            clock,
            log: Log::silent(),
            ask,
            words: None,
        });
        Self { recorder, findings, watch }
    }

    fn open(&self) -> Vec<String> {
        self.findings.list(&[FindingState::Open]).into_iter().map(|finding| finding.id).collect()
    }

    /// Waits for this among the open findings.
    fn await_open(&self, id: &str, open: bool) {
        for _ in 0..60_000 {
            if self.open().iter().any(|other| other == id) == open {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
        panic!("{id}: {:?}", self.open());
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.close();
        self.findings.close();
    }
}

#[test]
fn a_server_that_does_not_answer_itself_stands_still_until_it_does() {
    let answers = Arc::new(AtomicBool::new(false));
    let answer = answers.clone();
    let ask = move |limit: Duration| -> io::Result<Duration> {
        if answer.load(Relaxed) {
            return Ok(Duration::from_millis(1));
        }
        std::thread::park_timeout(limit.min(Duration::from_millis(100)));
        Err(ErrorKind::TimedOut.into())
    };
    let watched = Watched::begin(Some(Box::new(ask)));
    watched.await_open("serving-stands-still@server", true);
    assert_eq!(watched.watch.stuck().unwrap().what, "probe");
    answers.store(true, Relaxed);
    watched.await_open("serving-stands-still@server", false);
    assert_eq!(watched.watch.stuck(), None);
}

#[test]
fn a_probe_that_cannot_be_sent_says_nothing_about_serving() {
    let no_descriptors = 24;
    let ask = move |_| -> io::Result<Duration> { Err(io::Error::from_raw_os_error(no_descriptors)) };
    let watched = Watched::begin(Some(Box::new(ask)));
    // A second passes before each: the watch looks eight times meanwhile.
    while watched.watch.shared.probe.answered.load(Relaxed) < 2 {
        std::thread::park_timeout(Duration::from_millis(1));
    }
    assert!(!watched.watch.shared.probe.asking.load(Relaxed) && watched.open().is_empty(), "{:?}", watched.open());
}

#[test]
fn a_watch_that_panics_begins_again_and_its_words_are_removed_at_an_orderly_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("last-words.json");
    let clock = Clock::at(Millis(1_700_000_000_000));
    let (recorder, watch, told) = (Recorder::silent(clock.clone()), Watch::new(), Arc::new(AtomicUsize::new(0)));
    let tells = told.clone();
    watch.begin(WatchOptions {
        recorder: recorder.clone(),
        tells: Box::new(move |_| assert!(tells.fetch_add(1, Relaxed) > 0, "nobody listens")),
        clock,
        log: Log::silent(),
        ask: None,
        words: Some(file.clone()),
    });
    while told.load(Relaxed) < 2 {
        std::thread::park_timeout(Duration::from_millis(1));
    }
    let job = recorder.long_jobs().into_iter().find(|job| job.name() == "watch").unwrap().view();
    assert_eq!((job.panics, &*job.message, watch.stuck()), (1, "nobody listens", None));
    watch.close();
    assert!(!file.exists());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test keeps a file")]
fn the_first_caller_learns_how_the_run_before_ended_and_not_the_one_before_that() {
    let folder = tempfile::tempdir().unwrap();
    let words = folder.path().join("last-words.json");
    let told = || {
        let (clock, findings, watch) = (Clock::at(Millis(1_700_000_000_000)), Findings::new(), Watch::new());
        let recorder = Recorder::silent(clock.clone());
        findings.begin(FindingsOptions {
            file: Some(folder.path().join("findings/findings.json")),
            custom: Vec::new(),
            counts: None,
            recorder: recorder.clone(),
            clock: clock.clone(),
            log: Log::silent(),
        });
        let tells = findings.clone();
        watch.begin(WatchOptions {
            recorder,
            tells: Box::new(move |seen| tells.watched(seen)),
            clock,
            log: Log::silent(),
            ask: None,
            words: Some(words.clone()),
        });
        let (looked, wait) = std::sync::mpsc::channel::<()>();
        findings.looked(move || drop(looked));
        assert!(wait.recv().is_err());
        let open = findings.list(&[FindingState::Open]).into_iter().map(|finding| finding.sentence).collect::<Vec<_>>();
        // A killed run leaves its words.
        let left = std::fs::read(&words).unwrap();
        watch.close();
        findings.close();
        std::fs::write(&words, left).unwrap();
        open
    };
    assert_eq!(told(), Vec::<String>::new());
    assert!(matches!(&told()[..], [one] if !one.contains("such end")));
    for part in ["it is the second such end", "it is the end number 3"] {
        assert!(matches!(&told()[..], [one] if one.contains(part)), "{part}");
    }
}

#[test]
fn a_job_that_panics_again_and_again_is_a_finding() {
    let watched = Watched::begin(None);
    let job = watched.recorder.long_job("test", Duration::from_secs(60));
    let mut runs = 0;
    let crash = || {
        runs += 1;
        assert!(runs > 3, "no memory for the index");
    };
    assert_eq!(job.supervise(&Log::silent(), crash, |_| true), Some(()));
    watched.await_open("job-crash-loop@job:test", true);
    let found = watched.findings.list(&[FindingState::Open]).remove(0);
    assert!(found.sentence.contains("panicked 3 times") && found.sentence.contains("no memory for the index"));
}
