//! Every line of the page is valid, and every op, bound and reason is on it.

use super::*;
use crate::{BoundName, Clock, Event, Millis, RecorderOptions, Sink};
use std::collections::{HashMap, HashSet};

struct Quiet;

impl Sink for Quiet {
    fn name(&self) -> &'static str {
        "quiet"
    }
    fn write(&mut self, _: &[Event]) -> std::io::Result<()> {
        Ok(())
    }
}

fn recorder() -> Arc<Recorder> {
    let options = RecorderOptions { clock: Clock::at(Millis(2500)), shards: 2, buffered_events: 10 };
    let recorder = Recorder::start(options, vec![Box::new(Quiet)]);
    for name in BoundName::ALL {
        recorder.register(Bound::new(*name, "a \"quoted\\one\"\nof two lines", 5));
    }
    recorder.gauge("journal.shipped_seq", "The last row in a segment", || 7);
    recorder.gauge("broken", "Reading it\nfails", || std::panic::resume_unwind(Box::new("no")));
    recorder.attempt();
    let mut event = Event::request(Millis(1), crate::Tick(0));
    (event.status, event.outcome, event.duration) = (200, Some(Outcome::Answered), 3_000_000);
    event.add(Op::TruthRead, 1024);
    event.add(Op::TruthRead, 1026);
    recorder.release(event);
    recorder
}

/// Labels as text, by the grammar of the format. Panics where it is broken.
fn labels(text: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    let mut chars = text.chars().peekable();
    while chars.peek().is_some() {
        let key: String = std::iter::from_fn(|| chars.next_if(|c| *c != '=')).collect();
        assert!(!key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "label {key:?}");
        assert_eq!((chars.next(), chars.next()), (Some('='), Some('"')));
        let mut value = String::new();
        loop {
            match chars.next().expect("an open quote") {
                '"' => break,
                '\\' => value.push(match chars.next() {
                    Some('n') => '\n',
                    Some(c @ ('\\' | '"')) => c,
                    other => panic!("escaped {other:?}"),
                }),
                c => value.push(c),
            }
        }
        labels.push((key, value));
        assert!(matches!(chars.next(), None | Some(',')), "between labels in {text}");
    }
    labels
}

/// Every sample by name and labels, checked for the rules of the format.
fn samples(page: &str) -> HashMap<(String, Vec<(String, String)>), f64> {
    let (mut samples, mut families, mut family, mut kind) = (HashMap::new(), HashSet::new(), "", "");
    let mut lines = page.lines();
    assert!(page.ends_with('\n'));
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, doc) = help.split_once(' ').unwrap();
            assert!(name.starts_with("daylight_") && !doc.is_empty() && families.insert(name), "{line}");
            family = name;
            kind = lines.next().unwrap().strip_prefix(&format!("# TYPE {name} ")).unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, of) =
            series.split_once('{').map_or((series, ""), |(name, of)| (name, of.strip_suffix('}').unwrap()));
        let suffixes: &[&str] = if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        assert!(suffixes.iter().any(|suffix| name.strip_suffix(suffix) == Some(family)), "{line} is not of {family}");
        let value: f64 = value.parse().unwrap();
        assert!(samples.insert((name.to_owned(), labels(of)), value).is_none(), "{line} twice");
    }
    samples
}

fn key(name: &str, labels: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    (name.to_owned(), labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
}

#[test]
fn every_op_outcome_reason_layer_bound_and_sink_is_there_and_the_page_is_valid() {
    let recorder = recorder();
    let samples = samples(&recorder.prometheus());
    let there = |name: &str, of: &[(&str, &str)]| assert!(samples.contains_key(&key(name, of)), "{name} {of:?}");
    for op in Op::ALL {
        there("daylight_op_duration_seconds_count", &[("op", op.as_str())]);
    }
    for outcome in Outcome::ALL {
        there("daylight_outcomes_total", &[("outcome", outcome.as_str())]);
    }
    for reason in Reason::ALL {
        there("daylight_reasons_total", &[("reason", reason.as_str())]);
    }
    for layer in Layer::ALL {
        there("daylight_request_duration_seconds_count", &[("layer", layer.as_str())]);
        there("daylight_replies_total", &[("layer", layer.as_str()), ("status", "5xx")]);
    }
    for bound in recorder.bounds() {
        let labels = [("bound", bound.name().as_str()), ("which", bound.which()), ("unit", bound.name().unit())];
        for figure in ["capacity", "used", "highest", "waiters", "rejected_total", "wait_seconds_count"] {
            there(&format!("daylight_bound_{figure}"), &labels);
        }
    }
    for figure in ["taken_events", "dropped_events", "errors", "panics"] {
        there(&format!("daylight_sink_{figure}_total"), &[("sink", "quiet")]);
    }
}

#[test]
fn figures_are_in_seconds_and_buckets_are_cumulative() {
    let samples = samples(&recorder().prometheus());
    let op = |le| samples[&key("daylight_op_duration_seconds_bucket", &[("op", "truth.read"), ("le", le)])];
    // Two runs of one event count with their mean, 1,025 ns.
    assert_eq!((op("0.000001024"), op("0.000004096"), op("+Inf")), (0.0, 2.0, 2.0));
    assert_eq!(samples[&key("daylight_op_duration_seconds_sum", &[("op", "truth.read")])], 2050e-9);
    assert_eq!(samples[&key("daylight_request_duration_seconds_sum", &[("layer", "none")])], 0.003);
    assert_eq!(samples[&key("daylight_start_time_seconds", &[])], 2.0);
    assert_eq!(samples[&key("daylight_attempts_total", &[])], 1.0);
    assert_eq!(samples[&key("daylight_in_flight", &[])], 0.0);
}

#[test]
fn a_gauge_that_panics_is_left_out_and_one_of_the_same_name_replaces_it() {
    let recorder = recorder();
    let broken = key("daylight_broken", &[]);
    let before = samples(&recorder.prometheus());
    assert_eq!(before[&key("daylight_journal_shipped_seq", &[])], 7.0);
    assert!(!before.contains_key(&broken));
    recorder.gauge("broken", "Whole again", || 1);
    assert_eq!(samples(&recorder.prometheus())[&broken], 1.0);
}
