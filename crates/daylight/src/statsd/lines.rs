//! Lines of the protocol of statsd, packed into datagrams.

use super::sums::{Requests, Sums};
use std::fmt::Write;

/// The most bytes of a datagram: it fits into one frame of an Ethernet, with the headers of IPv6 and UDP, even inside a tunnel.
const DATAGRAM_MAX: usize = 1432;

/// The figures as datagrams, each full to the last line that fits. `tags`: class and outcome are tags of DogStatsD.
pub(super) fn packed(sums: &Sums, tags: bool) -> Vec<Vec<u8>> {
    let mut packer = Packer::default();
    for (class, outcome, requests) in sums.requests() {
        request(&mut packer, Labels { class, outcome, tags }, requests);
    }
    for (outcome, count) in sums.jobs() {
        let (name, tag) = named("jobs", &[("outcome", outcome)], tags);
        packer.line(format_args!("{name}:{count}|c{tag}"));
    }
    packer.done()
}

#[derive(Clone, Copy)]
struct Labels {
    class: &'static str,
    outcome: &'static str,
    tags: bool,
}

fn request(packer: &mut Packer, labels: Labels, requests: &Requests) {
    let Labels { class, outcome, tags } = labels;
    let of = |name: &str| named(name, &[("class", class), ("outcome", outcome)], tags);
    let counts = [
        ("requests", requests.count),
        ("received_bytes", requests.received_bytes),
        ("sent_bytes", requests.sent_bytes),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        let (name, tag) = of(name);
        packer.line(format_args!("{name}:{count}|c{tag}"));
    }
    let (name, tag) = of("request_ms");
    // The receiver multiplies by the reciprocal, so the number of times is that of the requests.
    let rate = requests.micros.len() as f64 / requests.count as f64;
    let rate = if rate < 1.0 { format!("|@{rate}") } else { String::new() };
    for micros in &requests.micros {
        packer.line(format_args!("{name}:{}.{:03}|ms{rate}{tag}", micros / 1000, micros % 1000));
    }
}

/// The name of a metric, and its tags.
fn named(name: &str, labels: &[(&str, &str)], tags: bool) -> (String, String) {
    let (mut name, mut tag) = (format!("daylight.{name}"), String::new());
    for (number, (key, value)) in labels.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = if tags {
            write!(tag, "{}{key}:{value}", if number == 0 { "|#" } else { "," })
        } else {
            write!(name, ".{value}")
        };
    }
    (name, tag)
}

#[derive(Default)]
struct Packer {
    full: Vec<Vec<u8>>,
    open: Vec<u8>,
}

impl Packer {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let line = line.to_string();
        if !self.open.is_empty() && self.open.len() + 1 + line.len() > DATAGRAM_MAX {
            self.full.push(std::mem::take(&mut self.open));
        }
        if !self.open.is_empty() {
            self.open.push(b'\n');
        }
        self.open.extend_from_slice(line.as_bytes());
    }

    fn done(mut self) -> Vec<Vec<u8>> {
        if !self.open.is_empty() {
            self.full.push(self.open);
        }
        self.full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{Class, Event, Figures, Glance, Millis, Outcome, Tick};

    fn sums(requests: u64) -> Sums {
        let mut sums = Sums::default();
        for number in 0..requests {
            let mut event = Event::request(Millis(1), Tick(0));
            (event.class, event.outcome) = (Some(Class::Downloads), Some(Outcome::Answered));
            (event.duration, event.bytes_out) = (1_234_567 + number * 1_000_000, 10);
            sums.add(&Glance::of(&event, &Figures::of(&event)));
        }
        let mut job = Event::job("blobs.collect", Millis(1));
        job.outcome = Some(Outcome::Done);
        sums.add(&Glance::of(&job, &Figures::of(&job)));
        sums
    }

    fn text(sums: &Sums, tags: bool) -> String {
        packed(sums, tags).into_iter().map(|datagram| String::from_utf8(datagram).unwrap() + "\n").collect()
    }

    #[test]
    fn lines_are_those_of_statsd_and_tags_those_of_dogstatsd() {
        assert_eq!(
            text(&sums(1), false),
            "daylight.requests.downloads.answered:1|c\ndaylight.sent_bytes.downloads.answered:10|c\n\
             daylight.request_ms.downloads.answered:1.234|ms\ndaylight.jobs.done:1|c\n"
        );
        assert_eq!(
            text(&sums(1), true),
            "daylight.requests:1|c|#class:downloads,outcome:answered\ndaylight.sent_bytes:10|c|#class:downloads,outcome:answered\n\
             daylight.request_ms:1.234|ms|#class:downloads,outcome:answered\ndaylight.jobs:1|c|#outcome:done\n"
        );
    }

    #[test]
    fn many_requests_take_few_datagrams_that_are_nearly_full() {
        let datagrams = packed(&sums(10_000), false);
        assert!(datagrams.len() <= 4, "{}", datagrams.len());
        let (last, full) = datagrams.split_last().unwrap();
        assert!(last.len() <= DATAGRAM_MAX);
        assert!(full.iter().all(|datagram| (DATAGRAM_MAX - 80..=DATAGRAM_MAX).contains(&datagram.len())));
        let text = text(&sums(10_000), false);
        assert!(text.contains("daylight.requests.downloads.answered:10000|c"));
        let times: Vec<&str> = text.lines().filter(|line| line.contains("|ms")).collect();
        let weight: f64 = times.iter().map(|line| 1.0 / line.rsplit('@').next().unwrap().parse::<f64>().unwrap()).sum();
        assert!((weight - 10_000.0).abs() < 1e-6, "{weight}");
        assert!(packed(&Sums::default(), false).is_empty());
    }
}
