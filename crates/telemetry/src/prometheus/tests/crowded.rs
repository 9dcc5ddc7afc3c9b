//! The answer of a server that has more of everything than any other stays below the limit of series.

use super::*;
use crate::{Class, Outcome};

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "OTHER"];

/// 500 repositories, requests of all kinds with 60 statuses, 60 hosts of upstreams with all errors, 64 cores, and bounds of all names.
fn crowded() -> (Arc<Recorder>, MetricsView, Vec<Arc<crate::UpstreamCalls>>) {
    let recorder = Recorder::silent(Clock::at(Millis(1)));
    recorder.set_format_of(|name| Some(["gem", "maven", "raw"][name.len() % 3]));
    let names: Vec<String> = (0..500).map(|number| format!("repository{number}")).collect();
    let statuses: Vec<u16> = [200..215, 300..309, 400..430, 500..506].into_iter().flatten().collect();
    let of_repositories = |layer: &Layer| !matches!(layer, Layer::App | Layer::AppCache | Layer::AppPages);
    let layers: Vec<Layer> = Layer::ALL.iter().copied().filter(of_repositories).collect();
    for (number, status) in statuses.iter().enumerate() {
        for (at, method) in METHODS.iter().enumerate() {
            for protocol in ["HTTP/1.1", "HTTP/2"] {
                let mut event = Event::request(Millis(1), Tick(0));
                event.subject.repository = if at % 4 > 0 { (*names[number * 8 + at]).into() } else { "".into() };
                (event.method, event.protocol, event.status) = (*method, protocol, *status);
                event.class = Class::ALL.get(at).copied();
                event.layer = layers[number % layers.len()];
                event.outcome = Some(Outcome::ALL[(number + at) % Outcome::COUNT]);
                event.duration = 10_000 << (number % 30);
                recorder.release(event);
            }
        }
    }
    let hosts: Vec<_> = (0..60).map(|number| recorder.upstream_calls(&format!("h{number}.example.org:443"))).collect();
    for calls in &hosts {
        statuses.iter().for_each(|status| calls.answered(*status, Tick::now()));
        Reason::ALL.iter().for_each(|reason| calls.erred(*reason));
    }
    for name in BoundName::ALL {
        let many = matches!(name, BoundName::UpstreamCalls | BoundName::UpstreamKept);
        (0..if many { 60 } else { 4 }).for_each(|which| recorder.register(Bound::new(*name, &which.to_string(), 5)));
    }
    for core in 0..64 {
        recorder.loop_monitor(&format!("core-{core}"));
    }
    let figures = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    for name in figures {
        let names = names.clone();
        let read = move || names.iter().map(|name| (name.clone(), 1.5)).collect();
        recorder.figures(Metric::gauge(name, "Any"), By::Repository(Fold::Sum), read);
    }
    let host = |number| HostView { named: true, number, circuit_open: false };
    let view = MetricsView {
        backends_named: true,
        repositories: names.into_iter().map(|name| (name, repository(true))).collect(),
        hosts: (0..60).map(|number| (format!("h{number}.example.org:443"), host(number))).collect(),
        ..MetricsView::default()
    };
    (recorder, view, hosts)
}

#[test]
fn a_crowded_server_tells_at_most_ten_thousand_series_and_how_many_are_left_out() {
    let (recorder, view, _hosts) = crowded();
    let count = |page: &Page| page.families().iter().map(|family| family.series).sum::<usize>();
    let mut whole = write(Page::default(), &recorder, &view);
    let all = count(&whole);
    assert!(all > 2 * limit::SERIES_MAX, "only {all}");
    limit::cut(&mut whole, usize::MAX);
    assert_eq!(samples(&whole.text()).len(), all + 1);

    let cut = samples(&recorder.prometheus(&view));
    assert!(cut.len() <= limit::SERIES_MAX, "{}", cut.len());
    assert_eq!(cut[&key("daylight_metrics_left_out_series", &[])], (all + 1 - cut.len()) as f64);
    let has = |name: &str| cut.keys().any(|(of, _)| of == name);
    assert!(!has("http_client_request_duration_seconds_count"), "it goes first");
    let stay = ["requests_total", "repository_requests_total", "outcomes_total", "bound_used", "upstream_circuit_open"];
    stay.iter().for_each(|name| assert!(has(&format!("daylight_{name}")), "{name}"));
    let requests = cut.iter().filter(|((name, _), _)| name == "daylight_repository_requests_total");
    assert_eq!(requests.clone().count(), 101);
    assert_eq!(requests.map(|(_, count)| count).sum::<f64>(), 720.0);
}
