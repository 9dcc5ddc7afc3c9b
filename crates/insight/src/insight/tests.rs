//! Questions are answered from counts only if these cover the time of the question.

use super::*;
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
        clock,
        log: Log::silent(),
    });
    insight.begin(Surroundings {
        folder: folder.join("events"),
        facts: Box::new(|_| RepositoryFacts::default()),
        above_floor: Box::new(|| true),
    });
    insight
}

fn event(minutes_ago: i64) -> Event {
    *Event::request(Millis(NOON - minutes_ago * MINUTE), Tick(0))
}

/// The number of all events from a moment on.
fn count(insight: &Insight, from: &str) -> String {
    let question = Question::from_text(&format!("count from {from}"), Millis(NOON)).unwrap();
    let (done, answer) = channel();
    insight.ask(question, move |answer| done.send(answer).unwrap());
    let answer = answer.recv().unwrap().unwrap();
    assert_eq!((answer.rows.len(), answer.complete), (1, 1.0));
    format!("{:?}", answer.rows[0][0])
}

#[test]
fn a_time_in_which_stored_events_are_older_than_all_counts_is_answered_from_events() {
    let folder = tempfile::tempdir().unwrap();
    let insight = open(folder.path());
    insight.sink().write(&[event(60), event(50)]).unwrap();
    insight.sink().write(&[event(1)]).unwrap();
    assert_eq!(count(&insight, "-2h"), "Whole(3)", "nothing is counted");
    // Two events of the last minutes are counted, and one of them is not stored.
    let mut census = insight.counts();
    for event in [event(2), event(1)] {
        census.see(&Glance::of(&event, &Figures::of(&event)));
    }
    census.pause();
    assert_eq!(count(&insight, "-2h"), "Whole(3)", "the counts cover two minutes of it");
    assert_eq!(count(&insight, "-10m"), "Whole(2)", "the counts cover all events of this time");
}
