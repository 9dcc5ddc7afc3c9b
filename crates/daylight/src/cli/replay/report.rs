//! The result of a replay: for programs as JSON, and for people.

use super::left_out::LeftOut;
use super::outcome::{Outcome, Pair, Times};
use super::recording::Recording;
use crate::cli::table::{self, Head};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::time::Duration;

/// The most paths with another status that are shown.
const PATHS: usize = 20;
/// The most groups that are shown to people.
const GROUPS: usize = 20;
/// The timetable was kept if all but one in a hundred requests began at most so late, in milliseconds.
const LATE_MS: f64 = 20.0;

/// A replay that has ended.
pub(super) struct Report<'a> {
    pub(super) recording: &'a Recording,
    pub(super) outcome: &'a Outcome,
    /// The URL of the server.
    pub(super) against: &'a str,
    pub(super) speed: f64,
    /// How long it took.
    pub(super) took: Duration,
    /// Connections that were open at the same time, and the most that there may be.
    pub(super) connections: (usize, usize),
    /// Requests that were under way at the same time in the recording.
    pub(super) at_once: usize,
    /// Requests that began late because all connections were in use.
    pub(super) waited: u64,
    /// Whether it was not stopped.
    pub(super) whole: bool,
}

impl Report<'_> {
    fn left_out(&self) -> u64 {
        self.recording.left_out.values().sum()
    }

    /// The part of the recorded requests that was left out.
    fn share(&self) -> f64 {
        self.left_out() as f64 / self.recording.recorded().max(1) as f64
    }

    fn keeps_timetable(&self) -> bool {
        self.outcome.late.quantile(0.99) <= LATE_MS
    }

    /// The groups, that with most requests first.
    fn groups(&self) -> Vec<(&str, &str, &Pair)> {
        let text = |name| self.recording.text(name);
        let groups =
            self.outcome.groups.iter().map(|((repository, file), pair)| (text(*repository), text(*file), pair));
        let mut groups: Vec<(&str, &str, &Pair)> = groups.collect();
        groups.sort_by(|one, other| {
            other.2.requests.cmp(&one.2.requests).then_with(|| (one.0, one.1).cmp(&(other.0, other.1)))
        });
        groups
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        let Self { recording, outcome, .. } = self;
        let reasons: serde_json::Map<String, Value> =
            recording.left_out.iter().map(|(why, count)| (why.key().to_owned(), (*count).into())).collect();
        let differences = outcome.differences();
        let paths = differences.iter().take(PATHS).map(|(one, count)| {
            json!({ "path": one.path, "recorded": one.recorded, "replayed": one.replayed, "count": count })
        });
        let groups = self.groups().into_iter().map(|(repository, file, group)| {
            let mut value = pair(group);
            value["repository"] = repository.into();
            value["file"] = file.into();
            value
        });
        let mut all = pair(&outcome.all);
        all["service_ms"] = times(&outcome.service);
        json!({
            "against": self.against,
            "speed": self.speed,
            "complete": self.whole,
            "recorded": {
                "requests": recording.recorded(), "jobs": recording.jobs, "seconds": recording.time().as_secs_f64(),
                "malformed_lines": recording.malformed, "malformed": recording.numbers, "lost": recording.lost, "gaps": recording.gaps,
            },
            "left_out": { "requests": self.left_out(), "share": self.share(), "reasons": reasons },
            "replayed": all,
            "seconds": self.took.as_secs_f64(),
            "connections": {
                "at_once": self.connections.0, "most": self.connections.1, "made": outcome.connected, "needed": self.at_once,
                "waited": self.waited,
            },
            "timetable": { "kept": self.keeps_timetable(), "late_ms": times(&outcome.late) },
            "differences": paths.collect::<Vec<Value>>(),
            "more_differences": differences.len().saturating_sub(PATHS) as u64 + outcome.others,
            "failures": outcome.failures,
            "groups": groups.collect::<Vec<Value>>(),
        })
    }

    /// For people.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { recording, outcome, .. } = self;
        let (sent, of) = (outcome.all.requests, recording.recorded());
        writeln!(
            out,
            "sent {sent} of {of} recorded requests again, in {:.1} s ({:.1} s in the recording), connections: {}",
            self.took.as_secs_f64(),
            recording.time().as_secs_f64(),
            self.connections.0
        )?;
        if !self.whole {
            writeln!(out, "it was stopped before its end")?;
        }
        if self.left_out() > 0 {
            writeln!(out, "left out: {} ({:.1} %)", self.left_out(), self.share() * 100.0)?;
            for why in LeftOut::ALL {
                if let Some(count) = recording.left_out.get(&why) {
                    writeln!(out, "  {count:>8}  {}", why.text())?;
                }
            }
        }
        self.write_incomplete(out)?;
        self.write_differences(out)?;
        self.write_timetable(out)?;
        writeln!(out)?;
        self.write_times(out)?;
        writeln!(out)?;
        self.write_groups(out)
    }

    /// What the recording lacks.
    fn write_incomplete(&self, out: &mut dyn Write) -> io::Result<()> {
        let recording = self.recording;
        if recording.malformed > 0 {
            let numbers: Vec<String> = recording.numbers.iter().map(u64::to_string).collect();
            let more = if recording.malformed > numbers.len() as u64 { ", ..." } else { "" };
            writeln!(out, "{} lines are no events: {}{more}", recording.malformed, numbers.join(", "))?;
        }
        if recording.lost > 0 {
            writeln!(
                out,
                "the recording lacks {} events, which came faster than they were read: the load was higher",
                recording.lost
            )?;
        }
        if recording.gaps > 0 {
            writeln!(out, "the recording has {} gaps, while its connection was broken", recording.gaps)?;
        }
        Ok(())
    }

    fn write_differences(&self, out: &mut dyn Write) -> io::Result<()> {
        let Pair { requests, different, failed, .. } = self.outcome.all;
        let same = requests - different - failed;
        writeln!(out, "{same} answers have the recorded status, {different} have another, {failed} requests failed")?;
        let differences = self.outcome.differences();
        let rows = differences.iter().take(PATHS).map(|(one, count)| {
            vec![count.to_string(), one.recorded.to_string(), one.replayed.to_string(), one.path.to_string()]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            table::write_under(out, &heads(&["COUNT", "RECORDED", "REPLAYED"], &["PATH"]), rows)?;
        }
        let more = differences.len().saturating_sub(PATHS) as u64 + self.outcome.others;
        if more > 0 {
            writeln!(out, "and {more} more")?;
        }
        for (text, count) in &self.outcome.failures {
            writeln!(out, "  {count:>8}  {}", crate::cli::failure::plain(text))?;
        }
        Ok(())
    }

    fn write_timetable(&self, out: &mut dyn Write) -> io::Result<()> {
        let late = &self.outcome.late;
        let how = format!(
            "99 % began within {} of their moments, all within {}",
            ms(late.quantile(0.99)),
            ms(late.longest())
        );
        if self.keeps_timetable() {
            return writeln!(out, "the timetable was kept: {how}");
        }
        writeln!(out, "the timetable was not kept: {how}")?;
        match self.waited {
            0 => writeln!(out, "this machine could not send as fast; the times below include that"),
            waited => writeln!(
                out,
                "{waited} requests waited for one of {} connections (`--connections`); the times below include that",
                self.connections.1
            ),
        }
    }

    fn write_times(&self, out: &mut dyn Write) -> io::Result<()> {
        let Outcome { all, service, .. } = self.outcome;
        let row = |name: &str, of: &dyn Fn(&Times) -> f64| {
            vec![name.to_owned(), ms(of(&all.recorded)), ms(of(&all.replayed)), ms(of(service))]
        };
        let mut rows: Vec<Vec<String>> = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)]
            .iter()
            .map(|(name, quantile)| row(name, &|times| times.quantile(*quantile)))
            .collect();
        rows.push(row("longest", &Times::longest));
        rows.push(vec![
            "bytes".to_owned(),
            all.recorded_bytes.to_string(),
            all.replayed_bytes.to_string(),
            String::new(),
        ]);
        let mut head = heads(&["RECORDED", "REPLAYED", "AFTER SENDING"], &[]);
        head.insert(0, Head { name: "TIME".to_owned(), right: false });
        table::write_under(out, &head, rows)
    }

    fn write_groups(&self, out: &mut dyn Write) -> io::Result<()> {
        let groups = self.groups();
        let rows = groups.iter().take(GROUPS).map(|(repository, file, pair)| {
            let (before, after) = (&pair.recorded, &pair.replayed);
            let mut row = vec![(*repository).to_owned(), (*file).to_owned()];
            row.extend([pair.requests, pair.different + pair.failed].map(|count| count.to_string()));
            row.extend(
                [before.quantile(0.5), after.quantile(0.5), before.quantile(0.95), after.quantile(0.95)].map(ms),
            );
            row.extend([pair.recorded_bytes, pair.replayed_bytes].map(|bytes| bytes.to_string()));
            row
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let figures = ["REQUESTS", "DIFFER", "P50", "P50 NOW", "P95", "P95 NOW", "BYTES", "BYTES NOW"];
        let mut head = heads(&[], &["REPOSITORY", "FILE"]);
        head.extend(heads(&figures, &[]));
        table::write_under(out, &head, rows)?;
        match groups.len().saturating_sub(GROUPS) {
            0 => Ok(()),
            more => writeln!(out, "and {more} more; `--json` has all of them"),
        }
    }
}

/// The columns of figures, and then those of texts.
fn heads(figures: &[&str], texts: &[&str]) -> Vec<Head> {
    let head = |right| move |name: &&str| Head { name: (*name).to_owned(), right };
    figures.iter().map(head(true)).chain(texts.iter().map(head(false))).collect()
}

/// A time for people.
fn ms(millis: f64) -> String {
    if millis < 10.0 { format!("{millis:.2} ms") } else { format!("{millis:.0} ms") }
}

fn pair(pair: &Pair) -> Value {
    json!({
        "requests": pair.requests,
        "different": pair.different,
        "failed": pair.failed,
        "recorded_ms": times(&pair.recorded),
        "replayed_ms": times(&pair.replayed),
        "recorded_bytes": pair.recorded_bytes,
        "replayed_bytes": pair.replayed_bytes,
    })
}

fn times(times: &Times) -> Value {
    json!({
        "p50": times.quantile(0.5), "p95": times.quantile(0.95), "p99": times.quantile(0.99), "longest": times.longest(),
    })
}
