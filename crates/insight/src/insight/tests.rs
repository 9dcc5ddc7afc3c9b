//! Answers tell which files cannot be read, and come from counts only if these cover the time of the question.

use super::*;
use crate::ask::{Answer, Caller, Question};
use crate::row::RepositoryFacts;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;
use telemetry::{Event, Figures, Glance, Tick};

const NOON: i64 = 1_793_534_400_000;
const MINUTE: i64 = 60_000;

fn open(folder: &Path) -> Arc<Insight> {
    let (clock, keep_time) = (Clock::at(Millis(NOON)), Duration::from_secs(86_400));
    let insight = Insight::new(InsightOptions {
        keep_bytes: 1 << 30,
        keep_time,
        memory_bytes: 1 << 26,
        ask_memory_bytes: 1 << 26,
        clock,
        log: Log::silent(),
    });
    insight.begin(Surroundings {
        folder: folder.join("events"),
        facts: Arc::new(|_| RepositoryFacts::default()),
        above_floor: Arc::new(|| true),
    });
    insight
}

fn event(minutes_ago: i64) -> Event {
    *Event::request(Millis(NOON - minutes_ago * MINUTE), Tick(0))
}

fn ask(insight: &Insight, question: &str) -> Answer {
    let (done, answer) = channel();
    insight.asker().ask(Question::from_text(question, Millis(NOON)).unwrap(), Caller::default(), move |answer| {
        done.send(answer).unwrap()
    });
    answer.recv().unwrap().unwrap()
}

/// The number of all events from a moment on.
fn count(insight: &Insight, from: &str) -> String {
    let answer = ask(insight, &format!("count from {from}"));
    assert_eq!((answer.rows.len(), answer.complete), (1, 1.0));
    format!("{:?}", answer.rows[0][0])
}

#[test]
#[expect(clippy::disallowed_methods, reason = "damages a file")]
fn an_answer_names_a_file_that_cannot_be_read_and_is_not_exact() {
    let folder = tempfile::tempdir().unwrap();
    let insight = open(folder.path());
    insight.sink().write(&[event(60), event(50)]).unwrap();
    drop(insight);
    let mut files = std::fs::read_dir(folder.path().join("events")).unwrap().map(|file| file.unwrap().path());
    let segment = files.find(|path| path.extension().is_some_and(|end| end == "parquet")).unwrap();
    std::fs::write(&segment, "PAR1").unwrap();
    let insight = open(folder.path());
    insight.sink().write(&[event(1)]).unwrap();
    for question in ["count from -1d", "count by path from -1d", "max(duration_ms) from -1d"] {
        let answer = ask(&insight, question);
        assert!(!answer.exact && answer.unreadable.len() == 1, "{question}: {answer:?}");
        assert!(answer.unreadable[0].contains(&segment.display().to_string()), "{:?}", answer.unreadable);
    }
    assert_eq!(format!("{:?}", ask(&insight, "count from -1d").rows), "[[Whole(1)]]");
}

#[test]
fn a_time_in_which_stored_events_are_older_than_all_counts_is_answered_from_events() {
    let folder = tempfile::tempdir().unwrap();
    let insight = open(folder.path());
    insight.sink().write(&[event(60), event(50)]).unwrap();
    insight.sink().write(&[event(1)]).unwrap();
    assert_eq!(count(&insight, "-2h"), "Whole(3)", "nothing is counted");
    // Two events of the last minutes are counted, and one of them is not stored.
    let mut census = insight.rollups();
    for event in [event(2), event(1)] {
        census.see(&Glance::of(&event, &Figures::of(&event)));
    }
    census.pause();
    assert_eq!(count(&insight, "-2h"), "Whole(3)", "the counts cover two minutes of it");
    assert_eq!(count(&insight, "-10m"), "Whole(2)", "the counts cover all events of this time");
}
