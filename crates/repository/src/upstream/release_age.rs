//! Decides which age of an upstream's version is believed: here and nowhere else. Pure: times are arguments.
//!
//! Upstreams date their content: files by `Last-Modified`, metadata by `lastUpdated`, builds of snapshots by their
//! names. An upstream can set any date, and an attacker who wants to pass a cooldown sets an old one. So the date is
//! believed for content that existed when Daylight first looked, as there is no better evidence. Content that appears
//! in a place where Daylight had looked before is as old as its first sight, whatever its date.

use crate::policy::package_version::Since;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// The journal's record of a version, of a build of a snapshot, or of a raw file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgeRecord {
    /// When Daylight first saw it.
    pub(crate) seen: Millis,
    /// The date that its age counts from, never later than `seen`.
    pub(crate) since: Millis,
    /// Whether a date of it may still be believed. One date is believed, so it is requested once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) open: bool,
}

impl AgeRecord {
    /// The date that its age counts from.
    pub(crate) fn age(self) -> Since {
        match (self.since < self.seen, self.open) {
            (true, false) => Since::Moment(self.since),
            (true, true) => Since::By(self.since),
            (false, _) => Since::FirstSeen(self.since),
        }
    }
}

/// The date that an upstream reports now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReportedDate {
    /// The date.
    pub(crate) date: Option<Millis>,
    /// Whether the date is only an upper bound: the latest moment at which it can have appeared.
    pub(crate) bound: bool,
}

/// The known facts about the age of an upstream's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownAge {
    /// The journal has a record.
    Seen(AgeRecord),
    /// The journal has no record, although everything that existed had been recorded: the version is new.
    Appeared,
    /// The journal has no record, and nobody looked before.
    Nothing,
}

impl KnownAge {
    /// The record after the upstream reported this date.
    pub(crate) fn told(self, told: ReportedDate, now: Millis) -> AgeRecord {
        match self {
            KnownAge::Seen(met) if met.open => AgeRecord { since: earlier(met.since, told), open: told.bound, ..met },
            KnownAge::Seen(met) => met,
            KnownAge::Appeared => AgeRecord { seen: now, since: now, open: false },
            KnownAge::Nothing => AgeRecord { seen: now, since: earlier(now, told), open: told.bound },
        }
    }

    /// The record after the upstream reported this exact date.
    pub(crate) fn dated(self, date: Option<Millis>, now: Millis) -> AgeRecord {
        self.told(ReportedDate { date, bound: date.is_none() }, now)
    }
}

fn earlier(moment: Millis, told: ReportedDate) -> Millis {
    told.date.map_or(moment, |date| date.min(moment))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1000);

    fn date(date: i64) -> Option<Millis> {
        Some(Millis(date))
    }

    #[test]
    fn what_is_met_first_is_as_old_as_it_is_dated_and_nothing_is_younger_than_when_it_was_seen() {
        let age = |date| KnownAge::Nothing.dated(date, NOW).age();
        assert_eq!(age(date(10)), Since::Moment(Millis(10)));
        assert_eq!(age(date(5000)), Since::FirstSeen(NOW));
        assert_eq!(age(None), Since::FirstSeen(NOW));
        let listed = KnownAge::Nothing.told(ReportedDate { date: date(10), bound: true }, NOW);
        assert_eq!(listed.age(), Since::By(Millis(10)), "a list names versions that are older than itself");
    }

    #[test]
    fn what_turns_up_later_is_new_whatever_its_date() {
        assert_eq!(KnownAge::Appeared.dated(date(10), NOW).since, NOW);
        let met = KnownAge::Appeared.told(ReportedDate { date: date(10), bound: true }, NOW);
        assert_eq!(met, AgeRecord { seen: NOW, since: NOW, open: false });
        assert_eq!(KnownAge::Seen(met).dated(date(10), Millis(2000)).since, NOW);
    }

    #[test]
    fn a_date_is_believed_once() {
        let met = KnownAge::Nothing.told(ReportedDate { date: date(500), bound: true }, NOW);
        assert_eq!(met, AgeRecord { seen: NOW, since: Millis(500), open: true });
        assert_eq!(KnownAge::Seen(met).dated(date(700), NOW).since, Millis(500), "the earlier one holds");
        let dated = KnownAge::Seen(met).told(ReportedDate { date: date(10), bound: false }, Millis(2000));
        assert_eq!(dated, AgeRecord { seen: NOW, since: Millis(10), open: false });
        assert_eq!(KnownAge::Seen(dated).dated(date(5), Millis(2000)).since, Millis(10));
        let undated = KnownAge::Seen(met).told(ReportedDate { date: None, bound: false }, Millis(2000));
        assert_eq!(undated, AgeRecord { open: false, ..met }, "there is none, and nobody asks again");
    }
}
