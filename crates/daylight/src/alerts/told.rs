//! What a receiver was told, kept over restarts, and what it does not know yet.
//!
//! Both follow from the findings that are open now, however many opened or closed while the receiver or the server was away.

use super::alert::{Alert, Teller, is_shared};
use insight::{Finding, FindingKind, StateFile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;
use telemetry::{Log, Millis};

/// The most findings that a receiver is told of at a time: there are no more.
pub(super) const TOLD_MAX: usize = 500;
/// The largest file that is read, in bytes.
const READ_MAX: u64 = 16 << 20;
/// The version of its format. Files of others are not read.
const VERSION: u32 = 1;
/// After a start, a finding that was told and that nobody knows any more does not count as over for so long: a process that was killed may not have
/// written it, and it is found again within five minutes.
const UNKNOWN: Duration = Duration::from_secs(10 * 60);

/// The findings of a look, as receivers need them.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The open ones.
    pub(super) open: Vec<Finding>,
    /// The ids of muted ones.
    pub(super) muted: BTreeSet<String>,
    /// When closed ones closed, by their ids.
    pub(super) closed: BTreeMap<String, Millis>,
    /// The time of day.
    pub(super) now: Millis,
    /// How long the server has run, by the monotonic clock.
    pub(super) uptime: Duration,
}

/// What a receiver was told and has not been told the end of, by the ids of the findings.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Told {
    version: u32,
    /// Of which receiver: its kind and its URL or command, hashed. Another one of the same name was told nothing.
    of: String,
    alerts: BTreeMap<String, Alert>,
    /// Alerts that were sent and whose answer was lost or was none of success: the receiver may have taken them, so their end is told, too.
    #[serde(default)]
    attempted: BTreeMap<String, Alert>,
    /// How many alerts were numbered.
    #[serde(default)]
    tellings: u64,
    /// The ids of open alerts that it refused for good. They are sent again only after a restart, with the settings of then.
    #[serde(skip)]
    refused: BTreeSet<String>,
}

impl Told {
    /// Reads what the process before told. Without a file nothing was told.
    pub(super) fn load(file: &StateFile, of: &str, log: &Log) -> Self {
        let empty = Self { version: VERSION, of: of.to_owned(), ..Self::default() };
        let read = || -> io::Result<Option<Self>> {
            let Some(bytes) = file.read(READ_MAX)? else { return Ok(None) };
            Ok(Some(serde_json::from_slice(&bytes)?))
        };
        match read() {
            Ok(Some(told)) if told.version == VERSION && told.of == of => told,
            Ok(_) => empty,
            Err(error) => {
                let fields: &[(&str, &dyn std::fmt::Display)] = &[("file", &file), ("why", &error)];
                log.warn("what a receiver of alerts was told cannot be read, so it is told again", fields);
                empty
            }
        }
    }

    /// The content of its file.
    pub(super) fn bytes(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    /// The alerts that it was told, and not the end of.
    pub(super) fn open(&self) -> usize {
        self.alerts.len()
    }

    /// The open alerts that it refused for good.
    pub(super) fn refused(&self) -> usize {
        self.refused.len()
    }

    /// Forgets refusals of alerts that are over.
    pub(super) fn keep_refused(&mut self, looked: &Looked) {
        self.refused.retain(|id| looked.open.iter().any(|finding| finding.id == *id));
    }

    /// Forgets what another node tells from now on, which tells its end, too.
    pub(super) fn leave_shared(&mut self) {
        for alerts in [&mut self.alerts, &mut self.attempted] {
            alerts.retain(|_, alert| !is_shared(&alert.key));
        }
    }

    /// What it does not know yet: ends first, so that there is room for new ones.
    pub(super) fn unknown(&self, name: &str, kinds: &[FindingKind], looked: &Looked, by: &Teller) -> Vec<Alert> {
        let open: BTreeSet<&str> = looked.open.iter().map(|finding| finding.id.as_str()).collect();
        let folded: BTreeSet<&str> =
            looked.open.iter().flat_map(|finding| &finding.folds).map(String::as_str).collect();
        let settled = looked.uptime >= UNKNOWN;
        let is_over = |alert: &&Alert| {
            let id = alert.id.as_str();
            if looked.muted.contains(id) || !kinds.contains(&alert.kind) {
                return true;
            }
            // One that was told before a cause explained it stays told until it closes.
            if open.contains(id) || folded.contains(id) {
                return false;
            }
            settled || looked.closed.get(id).is_some_and(|closed| *closed >= alert.since)
        };
        let ended = |alert: &Alert| {
            let closed = looked.closed.get(&alert.id).copied().filter(|closed| *closed >= alert.since);
            alert.ended(closed.unwrap_or(looked.now))
        };
        let attempted = self.attempted.values().filter(|alert| !self.alerts.contains_key(&alert.id));
        let over = self.alerts.values().chain(attempted).filter(is_over).map(ended);
        // Nobody is told that it cannot be told.
        let own = format!("alerts-do-not-arrive@receiver:{name}");
        let new = looked.open.iter().filter(|finding| {
            let is_known = self.alerts.contains_key(&finding.id) || self.refused.contains(&finding.id);
            kinds.contains(&finding.kind) && !is_known && finding.id != own
        });
        over.chain(new.map(|finding| Alert::of(finding, by))).collect()
    }

    /// What it was told, with the present figures of findings that are still open, for a receiver that forgets.
    pub(super) fn again(&self, looked: &Looked) -> Vec<Alert> {
        let present = |alert: &Alert| {
            let finding = looked.open.iter().find(|finding| finding.id == alert.id);
            // The server and the beginning stay: they identify the alert.
            finding.map_or_else(
                || alert.clone(),
                |finding| {
                    let by = Teller { server: alert.server.clone(), node: alert.node.clone() };
                    Alert { since: alert.since, telling: alert.telling, ..Alert::of(finding, &by) }
                },
            )
        };
        self.alerts.values().map(present).collect()
    }

    /// Whether there is room for this one.
    pub(super) fn has_room_for(&self, alert: &Alert) -> bool {
        alert.ended.is_some()
            || self.attempted.contains_key(&alert.id)
            || self.alerts.len() + self.attempted.len() < TOLD_MAX
    }

    /// These are about to be sent: numbers the alerts that begin, and marks them. Returns the ids of all that had no mark.
    pub(super) fn attempt(&mut self, alerts: &mut [Alert]) -> Vec<String> {
        let mut new = Vec::new();
        for alert in alerts.iter_mut().filter(|alert| alert.ended.is_none()) {
            match self.attempted.get(&alert.id) {
                Some(before) => alert.telling = before.telling,
                None => {
                    self.tellings += 1;
                    alert.telling = self.tellings;
                    self.attempted.insert(alert.id.clone(), alert.clone());
                    new.push(alert.id.clone());
                }
            }
        }
        new
    }

    /// It took nothing of the attempt that marked these.
    pub(super) fn unmark(&mut self, ids: &[String]) {
        ids.iter().for_each(|id| drop(self.attempted.remove(id)));
    }

    /// It refused these for good. An end that is refused is not told again, either.
    pub(super) fn refuse(&mut self, alerts: &[Alert]) {
        for alert in alerts {
            if alert.ended.is_some() {
                self.alerts.remove(&alert.id);
                self.attempted.remove(&alert.id);
            } else {
                self.refused.insert(alert.id.clone());
            }
        }
    }

    /// It was told these.
    pub(super) fn add(&mut self, alerts: &[Alert]) {
        for alert in alerts {
            self.attempted.remove(&alert.id);
            match alert.ended {
                Some(_) => drop(self.alerts.remove(&alert.id)),
                None => drop(self.alerts.insert(alert.id.clone(), alert.clone())),
            }
        }
    }
}

#[cfg(test)]
mod tests;
