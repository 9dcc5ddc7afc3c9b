//! What was wrong: the findings of the time, when they were open, what they cost, and what came of a change.

use super::asked::Asker;
use super::promised::{self, Promise, plain};
use super::{cells, or_missing};
use crate::cli::api::decode;
use crate::cli::findings::FINDINGS;
use format::percent::segment;
use serde::Deserialize;
use serde_json::Value;
use web::{ReportBlock, ReportFigure, ReportFinding, ReportTable};

/// The most findings that are described. Others are counted.
const SHOWN_MAX: usize = 25;
/// The most symptoms of a finding that are named.
const FOLDS_MAX: usize = 8;

#[derive(Debug, Deserialize)]
struct List {
    findings: Vec<Found>,
}

/// A finding, as far as a report needs it. A server of an earlier version tells neither when one opened nor what it cost in all.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Found {
    id: String,
    kind: String,
    state: String,
    since: String,
    opened: Option<String>,
    ended: Option<String>,
    lost_s_per_hour: f64,
    lost_s: f64,
    sentence: String,
    changes: Vec<Change>,
    folds: Vec<String>,
    mute: Option<Mute>,
    promise: Option<Promise>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Change {
    setting: Option<String>,
    from: Value,
    to: Value,
    live: bool,
    command: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Mute {
    why: String,
    until: String,
    by: String,
}

/// The findings of the time.
pub(super) struct Wrong {
    /// The findings that were open, the dearest first.
    open: Vec<Found>,
    /// How many never opened.
    pending: usize,
}

impl Wrong {
    pub(super) fn read(asker: &Asker<'_>) -> anyhow::Result<Self> {
        let query = format!("from={}&to={}", segment(asker.from()), segment(asker.to()));
        let List { findings } = decode(asker.api.get(&format!("{FINDINGS}?{query}"))?)?;
        Ok(Self::of(findings))
    }

    fn of(findings: Vec<Found>) -> Self {
        let is_open = |found: &Found| found.opened.is_some() || found.state == "open";
        let (mut open, pending): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_open);
        open.sort_by(|one, other| other.lost_s.total_cmp(&one.lost_s));
        Self { open, pending: pending.len() }
    }

    fn lost(&self) -> f64 {
        self.open.iter().map(|found| found.lost_s).sum()
    }

    fn still(&self) -> usize {
        self.open.iter().filter(|found| found.ended.is_none()).count()
    }

    pub(super) fn figure(&self) -> ReportFigure {
        let note = match self.open.len() {
            0 => "nothing was found wrong".to_owned(),
            all => format!("by {}", cells::counted(all, "fault")),
        };
        ReportFigure { name: "Client time lost".to_owned(), value: cells::seconds(self.lost()), note }
    }

    pub(super) fn sentence(&self) -> String {
        let (lost, all) = (cells::seconds(self.lost()), self.open.len());
        let still = match self.still() {
            0 => "None of them is there any more.".to_owned(),
            1 => "One of them is still there.".to_owned(),
            still if still == self.open.len() => "All of them are still there.".to_owned(),
            still => format!("{still} of them are still there."),
        };
        match all {
            0 => "The server found nothing wrong with itself.".to_owned(),
            1 if self.still() == 1 => format!("One fault was found, which cost clients {lost}. It is still there."),
            1 => format!("One fault was found, which cost clients {lost}. It is over."),
            _ => format!("{all} faults were found, which cost clients {lost} together. {still}"),
        }
    }

    pub(super) fn blocks(&self) -> Vec<ReportBlock> {
        let shown = self.open.iter().take(SHOWN_MAX).map(|found| ReportBlock::Finding(Box::new(found.shown())));
        let mut blocks: Vec<ReportBlock> = shown.collect();
        if blocks.is_empty() {
            blocks.push(ReportBlock::Text("No finding was open in this time.".to_owned()));
        }
        if self.open.len() > SHOWN_MAX {
            let more = cells::counted(self.open.len() - SHOWN_MAX, "cheaper finding");
            blocks
                .push(ReportBlock::Missing(format!("{more} not described here: `daylight findings --at` lists them.")));
        }
        if self.pending > 0 {
            let text = format!("Besides, {} seen, and not for long enough to open.", was(self.pending, "finding"));
            blocks.push(ReportBlock::Text(text));
        }
        blocks
    }

    /// What was lost by cause, and which promises were held.
    pub(super) fn cost(&self) -> Vec<ReportBlock> {
        let costly: Vec<&Found> = self.open.iter().filter(|found| found.lost_s >= 0.05).collect();
        let mut blocks =
            vec![ReportBlock::Heading("Lost: the time that clients waited for something that was wrong".to_owned())];
        if costly.is_empty() {
            blocks.push(ReportBlock::Text("No finding cost clients time.".to_owned()));
        } else {
            let row = |found: &&Found| {
                vec![
                    cells::foreign(&found.id),
                    cells::seconds(found.lost_s),
                    cells::seconds(found.lost_s_per_hour),
                    found.short(),
                ]
            };
            let rows = costly.iter().take(SHOWN_MAX).map(row).collect();
            let names = vec!["Cause", "#Lost in this time", "#At worst in an hour", "State"];
            let caption = "Client time lost, by cause".to_owned();
            blocks.push(ReportBlock::Table(ReportTable { caption, names, rows }));
        }
        blocks.extend(promised::table(self.open.iter().filter_map(|found| found.promise.as_ref())));
        blocks
    }
}

/// `1 finding was`, `2 findings were`.
fn was(number: usize, noun: &str) -> String {
    format!("{} {}", cells::counted(number, noun), if number == 1 { "was" } else { "were" })
}

impl Found {
    fn shown(&self) -> ReportFinding {
        let from = cells::minute(self.opened.as_ref().unwrap_or(&self.since));
        let when = match &self.ended {
            Some(ended) => format!("Open from {from} to {}.", cells::minute(ended)),
            None => format!("Open since {from}."),
        };
        let cost = match self.lost_s {
            lost if lost < 0.05 => String::new(),
            lost => format!(
                "It cost clients {}, and at worst {} in an hour.",
                cells::seconds(lost),
                cells::seconds(self.lost_s_per_hour)
            ),
        };
        let mut notes = Vec::new();
        if let Some(Mute { why, until, by }) = &self.mute {
            let (why, until, by) = (cells::sentence(why), cells::minute(until), cells::foreign(by));
            notes.push(format!("Muted until {until} by {by}: {why}"));
        }
        if !self.folds.is_empty() {
            let named: Vec<String> = self.folds.iter().take(FOLDS_MAX).map(|id| cells::foreign(id)).collect();
            let more = self.folds.len().saturating_sub(FOLDS_MAX);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            notes.push(format!("It explains {}{more}.", named.join(", ")));
        }
        ReportFinding {
            id: cells::foreign(&self.id),
            kind: cells::foreign(&self.kind),
            sentence: cells::sentence(&self.sentence),
            when,
            cost,
            changes: self.changes.iter().filter_map(Change::line).collect(),
            promise: self.promise.as_ref().map(Promise::sentence).unwrap_or_default(),
            is_over: self.ended.is_some(),
            notes,
        }
    }

    fn short(&self) -> String {
        self.ended
            .as_ref()
            .map_or_else(|| "still there".to_owned(), |ended| format!("over since {}", cells::minute(ended)))
    }
}

impl Change {
    fn line(&self) -> Option<String> {
        let Some(setting) = &self.setting else { return self.command.as_deref().map(cells::sentence) };
        let now = if self.from.is_null() { String::new() } else { format!(", instead of {}", plain(&self.from)) };
        let when = if self.live { "in force at once" } else { "needs a restart" };
        Some(cells::sentence(&format!("{setting} = {}{now} ({when})", self.to)))
    }
}

/// The alerts that were sent, if there are receivers.
pub(super) fn alerts(asker: &Asker<'_>) -> Vec<ReportBlock> {
    let rows = asker.ask("count by path, outcome where kind = job and method = 'alert.send' top 30");
    let table = rows.map(|rows| match rows.rows.is_empty() {
        true => Vec::new(),
        false => {
            rows.table("Alerts that were sent", &[("Receiver", "path"), ("Outcome", "outcome"), ("#Messages", "count")])
        }
    });
    or_missing("alerts", table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wrong(findings: Value) -> Wrong {
        Wrong::of(decode::<List>(json!({ "findings": findings })).unwrap().findings)
    }

    #[test]
    fn the_dearest_finding_is_first_and_what_never_opened_is_only_counted() {
        let wrong = wrong(json!([
            { "id": "a", "state": "open", "opened": "2026-11-01T12:00:00.000Z", "lost_s": 30.0, "lost_s_per_hour": 90.0, "sentence": "a" },
            { "id": "b", "state": "open", "opened": "2026-11-01T12:00:00.000Z", "ended": "2026-11-01T13:00:00.000Z", "lost_s": 570.0,
              "sentence": "the pool is full", "kind": "cause", "folds": ["x", "y"],
              "changes": [{ "setting": "upstream.max_calls", "from": 2, "to": 31, "live": false }],
              "promise": { "setting": "upstream.max_calls", "from": 2, "to": 31, "promised_s_per_hour": 340.0, "came_s_per_hour": 320.0,
                           "changed_at": "2026-11-01T12:30:00.000Z", "state": "held" } },
            { "id": "c", "state": "pending", "sentence": "c" },
        ]));
        assert_eq!(
            wrong.sentence(),
            "2 faults were found, which cost clients 10 minutes together. One of them is still there."
        );
        let ReportBlock::Finding(first) = &wrong.blocks()[0] else { panic!() };
        assert_eq!(
            (&*first.id, &*first.when, first.is_over),
            ("b", "Open from 2026-11-01 12:00 to 2026-11-01 13:00.", true)
        );
        assert_eq!(first.changes, ["upstream.max_calls = 31, instead of 2 (needs a restart)"]);
        assert!(
            first
                .promise
                .contains("to save clients 5.7 minutes in an hour. It saved 5.3 minutes: the promise was held."),
            "{first:?}"
        );
        let told = format!("{:?}{:?}", wrong.blocks(), wrong.cost());
        for part in [
            "Besides, 1 finding was seen",
            "still there",
            "over since 2026-11-01 13:00",
            "upstream.max_calls from 2 to 31",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }

    #[test]
    fn a_time_without_findings_says_so() {
        let wrong = wrong(json!([]));
        assert_eq!(wrong.sentence(), "The server found nothing wrong with itself.");
        assert!(format!("{:?}", wrong.blocks()).contains("No finding was open"));
        assert_eq!((wrong.figure().value, wrong.figure().note), ("0 seconds".into(), "nothing was found wrong".into()));
    }
}
