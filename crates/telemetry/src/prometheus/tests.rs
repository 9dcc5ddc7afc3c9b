//! Every line of the page is valid, and every op, bound and reason is on it.

mod crowded;

use super::*;
use crate::prometheus::metrics_view::OTHER;
use crate::{
    AppUse, Bound, BoundName, By, Clock, Event, Fold, HostView, Layer, MemberRecord, MemberSaid, Metric, Millis, Op,
    Outcome, Reason, RecorderOptions, RepositoryView, Sink, Tick, Unit,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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
    let options = RecorderOptions { shards: 2, buffered_events: 10, ..RecorderOptions::of(Clock::at(Millis(2500))) };
    let recorder = Recorder::start(options, vec![Box::new(Quiet)]);
    for name in BoundName::ALL {
        recorder.register(Bound::new(*name, "a \"quoted\\one\"\nof two lines", 5));
    }
    recorder.figure(Metric::gauge("journal_shipped_seq", "The last row in a segment"), || 7.0);
    recorder.figure(Metric::gauge("broken", "Reading it\nfails"), || std::panic::resume_unwind(Box::new("no")));
    recorder.attempt();
    let mut event = Event::request(Millis(1), Tick(0));
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
            assert!(
                ["daylight_", "process_", "http_", "db_", "dns_"].iter().any(|known| name.starts_with(known))
                    && !doc.is_empty()
                    && families.insert(name),
                "{line}"
            );
            family = name;
            kind = lines.next().unwrap().strip_prefix(&format!("# TYPE {name} ")).unwrap();
            assert!(["counter", "gauge", "histogram", "summary"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, of) =
            series.split_once('{').map_or((series, ""), |(name, of)| (name, of.strip_suffix('}').unwrap()));
        let suffixes: &[&str] = match kind {
            "histogram" => &["_bucket", "_sum", "_count"],
            "summary" => &["", "_sum", "_count"],
            _ => &[""],
        };
        assert!(suffixes.iter().any(|suffix| name.strip_suffix(suffix) == Some(family)), "{line} is not of {family}");
        let value: f64 = value.parse().unwrap();
        assert!(samples.insert((name.to_owned(), labels(of)), value).is_none(), "{line} twice");
    }
    samples
}

fn key(name: &str, labels: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
    (name.to_owned(), labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
}

fn page(recorder: &Recorder) -> HashMap<(String, Vec<(String, String)>), f64> {
    samples(&recorder.prometheus(&MetricsView::default()))
}

fn repository(named: bool) -> RepositoryView {
    RepositoryView { named, format: "raw", kind: "hosted" }
}

/// A request for a repository that ended with 200.
fn request(recorder: &Recorder, repository: &str, method: &'static str, waits: bool) {
    let mut event = Event::request(Millis(1), Tick(0));
    event.subject.repository = repository.into();
    (event.method, event.protocol, event.status, event.outcome) = (method, "HTTP/2", 200, Some(Outcome::Answered));
    (event.bytes_in, event.bytes_out) = (3, 5);
    if waits {
        event.add(Op::FlightWait, 1);
    }
    recorder.release(event);
}

#[test]
fn every_op_outcome_reason_layer_bound_and_sink_is_there_and_the_page_is_valid() {
    let recorder = recorder();
    let samples = page(&recorder);
    let there = |name: &str, of: &[(&str, &str)]| assert!(samples.contains_key(&key(name, of)), "{name} {of:?}");
    for op in Op::ALL {
        there("daylight_op_duration_seconds_count", &[("op", op.as_str())]);
        there("daylight_op_vain_total", &[("op", op.as_str())]);
    }
    for outcome in Outcome::ALL {
        there("daylight_outcomes_total", &[("outcome", outcome.as_str())]);
    }
    for reason in Reason::ALL {
        there("daylight_reasons_total", &[("reason", reason.as_str())]);
    }
    for layer in Layer::ALL {
        there("daylight_request_duration_seconds_count", &[("layer", layer.as_str())]);
        there("daylight_sent_bytes_total", &[("layer", layer.as_str())]);
    }
    for bound in recorder.bounds() {
        let labels = [("bound", bound.name().as_str()), ("which", bound.which())];
        let suffix = if bound.name().unit() == Unit::Bytes { "_bytes" } else { "" };
        for figure in ["limit", "used", "peak"] {
            there(&format!("daylight_bound_{figure}{suffix}"), &labels);
        }
        for figure in ["waiting", "rejected_total", "waits_total", "waited_seconds_total"] {
            there(&format!("daylight_bound_{figure}"), &labels);
        }
    }
    for figure in ["taken_events", "dropped_events", "errors", "panics"] {
        there(&format!("daylight_sink_{figure}_total"), &[("sink", "quiet")]);
    }
}

#[test]
fn figures_are_in_seconds_and_buckets_are_cumulative() {
    let samples = page(&recorder());
    let op = |le| samples[&key("daylight_op_duration_seconds_bucket", &[("op", "truth.read"), ("le", le)])];
    // Two runs of one event count with their mean, 1,025 ns.
    assert_eq!((op("0.00001"), op("0.000025"), op("+Inf")), (2.0, 2.0, 2.0));
    assert_eq!(samples[&key("daylight_op_duration_seconds_sum", &[("op", "truth.read")])], 2050e-9);
    let request = |le| samples[&key("daylight_request_duration_seconds_bucket", &[("layer", "none"), ("le", le)])];
    assert_eq!((request("0.0025"), request("0.005")), (0.0, 1.0));
    assert_eq!(samples[&key("daylight_request_duration_seconds_sum", &[("layer", "none")])], 0.003);
    assert_eq!(samples[&key("process_start_time_seconds", &[])], 2.5);
    assert_eq!(samples[&key("daylight_attempts_total", &[])], 1.0);
    assert_eq!(samples[&key("daylight_in_flight", &[])], 0.0);
}

#[test]
fn a_job_is_in_flight_and_no_active_request() {
    let recorder = Recorder::silent(Clock::at(Millis(1)));
    recorder.attempt();
    let told = || {
        let samples = page(&recorder);
        ["daylight_in_flight", "http_server_active_requests", "daylight_jobs_total"]
            .map(|name| samples[&key(name, &[])])
    };
    let job = crate::Job::begin(&recorder, "sweep");
    assert_eq!(told(), [2.0, 1.0, 1.0]);
    drop(job);
    assert_eq!(told(), [1.0, 1.0, 1.0]);
    request(&recorder, "open", "GET", false);
    assert_eq!(told(), [0.0, 0.0, 1.0]);
}

#[test]
fn a_figure_that_panics_is_left_out_and_one_of_the_same_name_replaces_it() {
    let recorder = recorder();
    let broken = key("daylight_broken", &[]);
    let before = page(&recorder);
    assert_eq!(before[&key("daylight_journal_shipped_seq", &[])], 7.0);
    assert!(!before.contains_key(&broken));
    recorder.figure(Metric::gauge("broken", "Whole again"), || 1.0);
    assert_eq!(page(&recorder)[&broken], 1.0);
}

#[test]
fn requests_are_counted_by_repository_and_those_of_hidden_ones_share_a_line() {
    let recorder = recorder();
    recorder.set_format_of(|name| (name != "gone").then_some("raw"));
    // The same repository twice in sequence, which the packed events store once.
    for (name, method, waits) in [("open", "GET", false), ("open", "GET", true), ("secret", "HEAD", false)] {
        request(&recorder, name, method, waits);
    }
    request(&recorder, "open", "PUT", false);
    request(&recorder, "gone", "GET", false);
    request(&recorder, "", "GET", false);
    let idle = "a \"quoted\\one\"\nof two lines";
    let names = [("open", true), ("secret", false), (idle, true)];
    let repositories = names.map(|(name, named)| (name.to_owned(), repository(named)));
    let view = MetricsView { repositories: repositories.into(), ..MetricsView::default() };
    let samples = samples(&recorder.prometheus(&view));
    let of = |figure: &str, name| {
        samples.get(&key(&format!("daylight_repository_{figure}"), &[("repository", name)])).copied()
    };
    let all = |name| {
        ["requests", "received_bytes", "sent_bytes", "hits", "misses"]
            .map(|figure| of(&format!("{figure}_total"), name))
    };
    assert_eq!(all("open"), [3.0, 9.0, 15.0, 1.0, 1.0].map(Some));
    assert_eq!(all(OTHER), [1.0, 3.0, 5.0, 1.0, 0.0].map(Some));
    assert_eq!(all(idle), [0.0; 5].map(Some));
    assert_eq!(all("secret"), [None; 5]);
    assert_eq!(all("gone"), [None; 5]);
    let labels = |format| [("format", format), ("layer", "none"), ("protocol", "HTTP/2"), ("status", "200")];
    assert_eq!(["raw", "none"].map(|format| samples[&key("daylight_requests_total", &labels(format))]), [4.0, 2.0]);
}

#[test]
fn figures_of_hidden_repositories_become_one() {
    let recorder = recorder();
    let each = || {
        ["open", "one", "two", "gone"]
            .iter()
            .zip([1.0, 2.0, 3.0, 4.0])
            .map(|(name, figure)| ((*name).to_owned(), figure))
            .collect()
    };
    recorder.figures(Metric::gauge("added", "A sum"), By::Repository(Fold::Sum), each);
    recorder.figures(Metric::gauge("longest", "The most"), By::Repository(Fold::Max), each);
    let repositories = ["open", "one", "two"].map(|name| (name.to_owned(), repository(name == "open")));
    let view = MetricsView { repositories: repositories.into(), ..MetricsView::default() };
    let samples = samples(&recorder.prometheus(&view));
    let of = |figure: &str, name| samples[&key(&format!("daylight_{figure}"), &[("repository", name)])];
    assert_eq!((of("added", "open"), of("added", OTHER), of("longest", OTHER)), (1.0, 5.0, 3.0));
    assert!(samples.keys().all(|(_, labels)| !labels.iter().any(|(_, value)| value == "gone" || value == "one")));
}

#[test]
fn a_host_that_the_reader_may_not_know_has_a_number_and_targets_of_redirects_share_a_line() {
    let recorder = recorder();
    for host in ["open:443", "secret:443", "gone:443"] {
        recorder.upstream_calls(host).answered(503, Tick::now());
    }
    recorder.other_upstream_calls().failed(Reason::UpstreamTls, Tick::now());
    let host = |named| HostView { named, number: if named { 4 } else { 7 }, circuit_open: !named };
    let hosts = [("open:443", true), ("secret:443", false)].map(|(name, named)| (name.to_owned(), host(named)));
    let samples = samples(&recorder.prometheus(&MetricsView { hosts: hosts.into(), ..MetricsView::default() }));
    let of =
        |name: &str, labels: &[(&str, &str)]| samples.get(&key(&format!("daylight_upstream_{name}"), labels)).copied();
    assert_eq!(of("requests_total", &[("host", "open:443"), ("status", "5xx")]), Some(1.0));
    assert_eq!(of("requests_total", &[("host", "7"), ("status", "5xx")]), Some(1.0));
    assert_eq!(of("errors_total", &[("host", OTHER), ("reason", "upstream_tls")]), Some(1.0));
    assert_eq!(of("request_duration_seconds_count", &[("host", OTHER)]), Some(1.0));
    assert_eq!(
        [of("circuit_open", &[("host", "open:443")]), of("circuit_open", &[("host", "7")])],
        [Some(0.0), Some(1.0)]
    );
    assert_eq!(of("info", &[("host", "open:443"), ("number", "4")]), Some(1.0));
    assert!(
        samples
            .keys()
            .all(|(_, labels)| !labels.iter().any(|(_, value)| value.contains("secret") || value.contains("gone:")))
    );
}

#[test]
fn requests_for_an_application_are_no_requests_for_a_repository_and_its_backends_are_told_to_those_who_may_know_them() {
    let recorder = recorder();
    let repositories = [("shop".to_owned(), repository(true))];
    let mut event = Event::request(Millis(1), Tick(0));
    event.subject.repository = "shop".into();
    (event.layer, event.method, event.status, event.outcome) = (Layer::App, "GET", 504, Some(Outcome::Failed));
    (event.reason, event.bytes_out) = (Some(Reason::AppSilent), 7);
    event.add(Op::AppAnswer, 2_000_000_000);
    event.absorb(MemberRecord::new("http://inside:9292", MemberSaid::Timeout, event.reason));
    let lane = AppUse { lane: "/reports/**".into(), cache: "fwd=miss", page: "miss", ..AppUse::default() };
    event.more_mut().app = Some(Box::new(lane));
    recorder.release(event);
    let mut hit = Event::request(Millis(1), Tick(0));
    hit.subject.repository = "shop".into();
    (hit.layer, hit.method, hit.status, hit.outcome) = (Layer::AppCache, "GET", 200, Some(Outcome::Answered));
    hit.bytes_out = 11;
    recorder.release(hit.clone());
    (hit.layer, hit.bytes_out) = (Layer::AppPages, 13);
    recorder.release(hit);
    let told = |backends_named| {
        let view = MetricsView { repositories: repositories.clone().into(), backends_named, ..MetricsView::default() };
        samples(&recorder.prometheus(&view))
    };
    let (samples, hidden) = (told(true), told(false));
    let of = |name: &str, labels: &[(&str, &str)]| {
        let labels: Vec<(&str, &str)> = [("app", "shop")].iter().chain(labels).copied().collect();
        samples.get(&key(&format!("daylight_app_{name}"), &labels)).copied()
    };
    assert_eq!(
        ["hit", "fwd=miss", "none"].map(|state| of("requests_total", &[("cache", state)])),
        [Some(2.0), Some(1.0), None]
    );
    let sent = ["app", "app_cache", "app_pages"].map(|layer| of("sent_bytes_total", &[("layer", layer)]));
    assert_eq!(sent, [Some(7.0), Some(11.0), Some(13.0)]);
    assert_eq!(["hit", "miss"].map(|page| of("pages_total", &[("outcome", page)])), [Some(1.0), Some(1.0)]);
    assert_eq!(of("lane_busy_seconds_total", &[("lane", "/reports/**")]), Some(2.0));
    assert_eq!(of("reasons_total", &[("reason", "app_silent")]), Some(1.0));
    let silent = |backend| {
        key("daylight_app_backend_failures_total", &[("app", "shop"), ("backend", backend), ("reason", "app_silent")])
    };
    let inside = silent("http://inside:9292");
    assert_eq!((samples[&inside], hidden[&silent(OTHER)], hidden.contains_key(&inside)), (1.0, 1.0, false));
    assert_eq!(samples[&key("daylight_repository_requests_total", &[("repository", "shop")])], 0.0);
    let routes = samples.iter().filter(|((name, labels), _)| {
        name == "http_server_response_body_size_bytes_count"
            && labels.contains(&("http_route".into(), "(application)".into()))
    });
    assert_eq!(routes.map(|(_, count)| *count).sum::<f64>(), 3.0);
}
