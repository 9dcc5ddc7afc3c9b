//! How old something of an upstream's is, as far as that is believed: decided here and nowhere else. Pure: times are arguments.
//!
//! Upstreams date what they have: files by `Last-Modified`, metadata by `lastUpdated`, builds of snapshots by their names. They may
//! say what they like, and who wants to pass a cooldown says that it is old. So a date is believed of what was there when we first
//! looked, as nobody here knows better. What turns up where we had looked before is as old as we have known it, whatever its date.

use crate::policy::package_version::Since;
use serde::{Deserialize, Serialize};
use telemetry::Millis;

/// What the journal has of a version, of a build of a snapshot, or of a raw file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgeRecord {
    /// When it was first seen here.
    pub(crate) seen: Millis,
    /// Since when it exists, as far as that is believed: never later than `seen`.
    pub(crate) since: Millis,
    /// Whether a date of it is believed yet. One is, so that it is asked for once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) open: bool,
}

impl AgeRecord {
    /// How old it counts.
    pub(crate) fn age(self) -> Since {
        if self.since < self.seen { Since::Moment(self.since) } else { Since::FirstSeen(self.since) }
    }
}

/// What an upstream tells of something now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReportedDate {
    /// Its date.
    pub(crate) date: Option<Millis>,
    /// Whether that is only the last moment at which it can have come, and another date may say more.
    pub(crate) bound: bool,
}

/// What is known here of something of an upstream's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownAge {
    /// What the journal has.
    Seen(AgeRecord),
    /// Nothing, where all there was had been seen: it is new.
    Appeared,
    /// Nothing, and nobody looked before.
    Nothing,
}

impl KnownAge {
    /// What is known once this was told, if it was not before.
    pub(crate) fn told(self, told: ReportedDate, now: Millis) -> AgeRecord {
        match self {
            KnownAge::Seen(met) if met.open => AgeRecord { since: earlier(met.since, told), open: told.bound, ..met },
            KnownAge::Seen(met) => met,
            KnownAge::Appeared => AgeRecord { seen: now, since: now, open: false },
            KnownAge::Nothing => AgeRecord { seen: now, since: earlier(now, told), open: told.bound },
        }
    }

    /// The same where its date is this.
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
