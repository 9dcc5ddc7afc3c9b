//! The result of a probe: its verdict first, then where the time went, and who answered.

use super::inside::{EVENTS_MAX, Insides};
use super::parts::{Parts, Place, median};
use super::{Probes, ms};
use crate::cli::failure::plain;
use crate::cli::table::{self, Head};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The most operations that are shown.
const OPS: usize = 3;

/// A probe that has ended.
pub(super) struct Report<'a> {
    url: &'a str,
    probes: &'a Probes,
    insides: &'a Insides,
    parts: Parts,
}

impl<'a> Report<'a> {
    pub(super) fn new(url: &'a str, probes: &'a Probes, insides: &'a Insides) -> Self {
        Self { url, probes, insides, parts: Parts::of(&probes.answered, &insides.all) }
    }

    /// How long the whole request took, in milliseconds: the median of those on new connections, or on kept ones.
    fn whole(&self, reused: bool) -> Option<f64> {
        let of = self.probes.answered.iter().filter(|probe| probe.times.reused == reused);
        median(of.map(|probe| ms(probe.times.total())))
    }

    /// The answers by their statuses.
    fn statuses(&self) -> BTreeMap<u16, usize> {
        let mut statuses = BTreeMap::new();
        self.probes.answered.iter().for_each(|probe| *statuses.entry(probe.status).or_default() += 1);
        statuses
    }

    /// The verdict as a sentence.
    fn sentence(&self) -> String {
        let (place, most) = self.parts.verdict();
        let at = |place| amount(self.parts.at(place));
        let (most, road, inside) = (amount(most), at(Place::Road), at(Place::Inside));
        match place {
            Place::Outside => format!(
                "outside, {most}: requests wait {most} in front of the server, which then takes {inside}; a round trip takes {road}"
            ),
            Place::Inside => {
                let op =
                    self.parts.ops.first().map(|(op, ms)| format!(", most of it in `{}` ({})", plain(op), amount(*ms)));
                let (op, outside) = (op.unwrap_or_default(), at(Place::Outside));
                format!(
                    "inside, {most}: the server takes {most} until its first byte{op}; {outside} are lost in front of it, and a round trip \
                     takes {road}"
                )
            }
            Place::Road => format!(
                "the road, {most}: a round trip to the host of the URL takes {most}; in front of the server requests wait {}, and it takes \
                 {inside}",
                at(Place::Outside)
            ),
            Place::Name => {
                format!("the name, {most}: resolving the name of the host takes {most} for each new connection")
            }
            Place::Connect => format!(
                "connecting, {most}: of {} attempts to connect {} were lost and repeated after a second; the queue of connections to be \
                 accepted is full (`daylight_bound_used{{bound=\"accept.queue\"}}`), or packets are lost",
                self.new_connections(),
                self.parts.repeated
            ),
            Place::Accept => format!(
                "accepting, {most}: a new connection waits {most} longer for its first answer than one that is open; it waits to be accepted, \
                 or a proxy connects to the server first"
            ),
            Place::Tls => format!(
                "TLS, {most}: the handshake of a new connection takes {most} beyond a round trip; clients that keep connections pay it once"
            ),
            Place::Body => format!(
                "the body, {most}: {} bytes take {most} to arrive beyond the time in which the server sent them: the bandwidth of the road",
                self.bytes()
            ),
            Place::Unknown => format!(
                "not known, {most}: requests wait {most} for the first byte beyond a round trip ({road}), and the server did not tell which part \
                 of it is its own"
            ),
        }
    }

    fn new_connections(&self) -> usize {
        self.probes.answered.iter().filter(|probe| !probe.times.reused).count()
    }

    /// The bytes of the largest answer.
    fn bytes(&self) -> u64 {
        self.probes.answered.iter().map(|probe| probe.times.bytes).max().unwrap_or(0)
    }

    /// The request that took longest.
    fn slowest(&self) -> Option<(f64, &str)> {
        let slowest = self.probes.answered.iter().max_by_key(|probe| probe.times.total())?;
        Some((ms(slowest.times.total()), slowest.event.as_str()))
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        let (place, most) = self.parts.verdict();
        let places = self.parts.places.iter().map(|(place, ms)| (place.key().to_owned(), json!(round(*ms))));
        let statuses = self.statuses().into_iter().map(|(status, count)| (status.to_string(), json!(count)));
        let ops = self.parts.ops.iter().map(|(op, ms)| json!({ "op": op, "ms": round(*ms) }));
        let requests = self.probes.answered.iter().zip(&self.insides.all).map(|(probe, inside)| {
            let times = &probe.times;
            json!({
                "event": probe.event, "status": probe.status, "new_connection": !times.reused,
                "resolve_ms": round(ms(times.resolve)), "connect_ms": round(ms(times.connect)), "tls_ms": round(ms(times.tls)),
                "first_byte_ms": round(ms(times.head)), "body_ms": round(ms(times.body)), "bytes": times.bytes,
                "inside_first_byte_ms": inside.as_ref().map(|inside| round(inside.first_byte_ms)),
                "inside_body_ms": inside.as_ref().and_then(|inside| inside.body_ms).map(round),
            })
        });
        json!({
            "url": self.url,
            "verdict": { "where": place.key(), "ms": round(most), "sentence": self.sentence() },
            "places_ms": places.collect::<serde_json::Map<String, Value>>(),
            "new_connection_ms": self.whole(false).map(round),
            "open_connection_ms": self.whole(true).map(round),
            "answered": self.probes.answered.len(),
            "failed": self.probes.failed.iter().map(ToString::to_string).collect::<Vec<String>>(),
            "statuses": statuses.collect::<serde_json::Map<String, Value>>(),
            "connects_repeated": self.parts.repeated,
            "inside_known": self.insides.known(),
            "inside_refused": self.insides.refused,
            "from_a_cache": self.insides.repeated,
            "proxies": self.probes.proxies,
            "ops": ops.collect::<Vec<Value>>(),
            "late_ms": round(ms(self.probes.late)),
            "requests": requests.collect::<Vec<Value>>(),
        })
    }

    /// For people.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.sentence())?;
        writeln!(out)?;
        let of = |reused, text: &str| self.whole(reused).map(|ms| format!("{} {text}", amount(ms)));
        let whole: Vec<String> =
            [of(false, "on a new connection"), of(true, "on an open one")].into_iter().flatten().collect();
        writeln!(out, "a request takes {}; by medians:", whole.join(" and "))?;
        let row = |(place, ms): (&Place, &f64)| vec![place.key().to_owned(), amount(*ms), place.doc().to_owned()];
        let head = [("WHERE", false), ("TIME", true), ("WHAT", false)];
        let head = head.map(|(name, right)| Head { name: name.to_owned(), right });
        table::write_under(out, &head, self.parts.places.iter().map(row).collect())?;
        writeln!(out)?;
        self.write_inside(out)?;
        self.write_answers(out)
    }

    fn write_inside(&self, out: &mut dyn Write) -> io::Result<()> {
        let ops = self.parts.ops.iter().take(OPS).map(|(op, ms)| format!("{} {}", plain(op), amount(*ms)));
        let ops: Vec<String> = ops.collect();
        if !ops.is_empty() {
            writeln!(out, "in the server: {} (means)", ops.join(", "))?;
        }
        match &self.insides.refused {
            Some(why) if self.insides.known() == 0 => {
                writeln!(out, "the server told nothing about its own time: {why}")?;
            }
            Some(why) => writeln!(
                out,
                "the server did not tell its operations; {} answers have their time in it, from their `Server-Timing` or their events: {why}",
                self.insides.known()
            )?,
            None if self.insides.known() == 0 => writeln!(
                out,
                "the server told nothing about its own time: no answer has the id of an event that it knows and that no other answer has; is it Daylight, or did something else \
                 answer?"
            )?,
            None => {}
        }
        if self.insides.unread > 0 {
            writeln!(
                out,
                "the events of the first {EVENTS_MAX} answers were read: the server was not asked about {} further ones",
                self.insides.unread
            )?;
        }
        match self.insides.repeated {
            0 => Ok(()),
            n => writeln!(
                out,
                "{n} answers came from a cache on the way: they have the event of another request. The time in the server of answers with the same \
                 event is not known"
            ),
        }
    }

    fn write_answers(&self, out: &mut dyn Write) -> io::Result<()> {
        let statuses: Vec<String> =
            self.statuses().into_iter().map(|(status, count)| format!("{count} with {status}")).collect();
        writeln!(
            out,
            "{} answers, {} of them on new connections: {}",
            self.probes.answered.len(),
            self.new_connections(),
            statuses.join(", ")
        )?;
        if let Some(first) = self.probes.failed.first() {
            writeln!(
                out,
                "{} requests failed, the first because {}",
                self.probes.failed.len(),
                plain(&first.to_string())
            )?;
        }
        if !self.probes.proxies.is_empty() {
            writeln!(out, "in front of the server: {}", self.probes.proxies.join(", "))?;
        }
        match self.slowest() {
            Some((ms, event)) if !event.is_empty() => {
                writeln!(out, "the slowest took {}: `daylight explain --event {}`", amount(ms), plain(event))
            }
            _ => Ok(()),
        }
    }
}

/// Milliseconds, rounded to a microsecond.
fn round(ms: f64) -> f64 {
    (ms * 1000.0).round() / 1000.0
}

/// A time for people, with two digits that count.
fn amount(ms: f64) -> String {
    match ms {
        ..0.01 => "0 ms".to_owned(),
        ..1.0 => format!("{ms:.2} ms"),
        ..9.95 => format!("{ms:.1} ms"),
        ..99.5 => format!("{ms:.0} ms"),
        ..9950.0 => format!("{:.0} ms", two_digits(ms)),
        _ => format!("{:.0} s", ms / 1000.0),
    }
}

fn two_digits(ms: f64) -> f64 {
    let step = if ms < 995.0 { 10.0 } else { 100.0 };
    (ms / step).round() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_two_digits_that_count() {
        let amounts = [0.001, 0.126, 1.26, 12.6, 99.4, 99.6, 403.0, 994.0, 1234.0, 12_340.0].map(amount);
        assert_eq!(
            amounts,
            ["0 ms", "0.13 ms", "1.3 ms", "13 ms", "99 ms", "100 ms", "400 ms", "990 ms", "1200 ms", "12 s"]
        );
    }
}
