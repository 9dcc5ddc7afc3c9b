//! The rules of a repository for which versions to keep. A version is removed only if there are rules and none of them
//! keeps it.

use crate::record::RepositoryRecord;
use store::Withdrawal;
use telemetry::Millis;

/// The rules of a repository at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CleanupRules {
    versions: Option<u64>,
    /// Versions that were used at this moment or later are kept.
    used_since: Option<Millis>,
    /// Whether a removal cannot be undone.
    no_undo: bool,
}

impl CleanupRules {
    /// The rules of a repository at `now`; `None`: it has none.
    pub(crate) fn of(record: &RepositoryRecord, now: Millis) -> Option<Self> {
        let used_since = record.keep_unused_s.map(|seconds| before(now, seconds));
        let rules = Self { versions: record.keep_versions, used_since, no_undo: false };
        (rules.versions.is_some() || rules.used_since.is_some()).then_some(rules)
    }

    /// The same rules with removals that cannot be undone, if `no_undo` is set.
    pub(crate) fn without_undo(self, no_undo: bool) -> Self {
        Self { no_undo, ..self }
    }

    /// The reason of the removals.
    pub(crate) fn withdrawal(&self) -> Withdrawal {
        Withdrawal::Cleanup { rule: self.name().to_owned(), no_undo: self.no_undo }
    }

    /// Whether a rule depends on last uses.
    pub(crate) fn ask_uses(&self) -> bool {
        self.used_since.is_some()
    }

    /// The name of the rules. Each removal is recorded with it.
    pub(crate) fn name(&self) -> &'static str {
        match (self.versions, self.used_since) {
            (Some(_), Some(_)) => "keep_versions, keep_unused",
            (Some(_), None) => "keep_versions",
            _ => "keep_unused",
        }
    }

    /// Whether the rule for unused versions lets go of a version with this last use.
    pub(crate) fn is_unused(&self, used: Millis) -> bool {
        self.used_since.is_none_or(|since| used < since)
    }

    /// The versions of a package that no rule keeps, oldest first.
    pub(crate) fn surplus<T>(&self, mut versions: Vec<Dated<T>>) -> Vec<Dated<T>> {
        versions.sort_by_key(|version| version.published);
        let kept = self.versions.map_or(0, |kept| usize::try_from(kept).unwrap_or(usize::MAX));
        versions.truncate(versions.len().saturating_sub(kept));
        versions.retain(|version| self.is_unused(version.used));
        versions
    }
}

/// A version with the dates that rules compare.
#[derive(Debug, Clone)]
pub(crate) struct Dated<T> {
    pub(crate) what: T,
    pub(crate) published: Millis,
    /// Its last possible use.
    pub(crate) used: Millis,
}

/// The moment this many seconds before `now`.
fn before(now: Millis, seconds: u64) -> Millis {
    let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
    Millis(now.0.saturating_sub(millis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::RepositoryKind;

    /// The versions that are removed, given versions published at 1, 2, 3 and so on with these last uses.
    fn gone(versions: Option<u64>, unused_s: Option<u64>, now: i64, used: &[i64]) -> Vec<usize> {
        let mut record = RepositoryRecord::new("r", "gem", RepositoryKind::Hosted, Millis(0));
        (record.keep_versions, record.keep_unused_s) = (versions, unused_s);
        let all = used.iter().enumerate().rev().map(|(at, used)| Dated {
            what: at + 1,
            published: Millis(at as i64 + 1),
            used: Millis(*used),
        });
        let Some(rules) = CleanupRules::of(&record, Millis(now)) else { return Vec::new() };
        rules.surplus(all.collect()).into_iter().map(|version| version.what).collect()
    }

    #[test]
    fn a_version_goes_only_if_no_rule_keeps_it() {
        assert_eq!(gone(None, None, 9_000, &[1, 1, 1]), [0; 0], "without rules everything stays");
        assert_eq!(gone(Some(1), None, 9_000, &[9_000, 1, 1]), [1, 2]);
        assert_eq!(gone(Some(3), None, 9_000, &[1, 1, 1]), [0; 0]);
        assert_eq!(gone(None, Some(5), 9_000, &[3_999, 4_000, 9_000]), [1]);
        assert_eq!(gone(Some(1), Some(5), 9_000, &[4_000, 3_000, 1]), [2], "the newest is kept, and what was used");
    }
}
