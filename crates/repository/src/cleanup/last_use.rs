//! The last uses of packages and files, by day. They come from finished events, off the path of requests.
//!
//! Nothing counts as unused before recording began. Recording starts again if uses may have been lost.

use crate::cleanup::used_name::UsedName;
use crate::error::Result;
use crate::format::Format;
use crate::repository::Repository;
use store::{RepositoryKind, Store};
use telemetry::{Event, Millis};

/// A day, in milliseconds.
const DAY: i64 = 86_400_000;
/// The beginning of the year 9999: later moments have no text.
const NEVER: i64 = 253_370_764_800_000;

/// The name under which the use of an event's subject is recorded; `None`: the subject is no published file. `file` is the kind of
/// the subject.
pub fn used_name<'a>(file: &str, package: &'a str, version: &'a str) -> Option<UsedName<'a>> {
    let used = match file {
        "file" => Some(UsedName::Own(package)),
        _ => Format::ALL.iter().find_map(|format| format.rules().used_name(file, package, version)),
    };
    used.filter(|name| *name != UsedName::Own(""))
}

/// The name under which uses of a version of a package are recorded.
pub(crate) fn version_name(package: &str, version: &str) -> String {
    UsedName::Version { package, version }.to_string()
}

/// The last uses in one repository.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastUses<'a> {
    store: &'a Store,
    repository: &'a Repository,
    /// When recording began.
    since: Millis,
}

impl<'a> LastUses<'a> {
    pub(crate) async fn of(store: &'a Store, repository: &'a Repository, event: &mut Event) -> Result<Self> {
        // Clients of another node may use files that no client of this node uses. Each node has its own cached files.
        let is_of_many = repository.record.kind == RepositoryKind::Hosted && store.nodes().len() > 1;
        let since = if is_of_many { Millis(i64::MAX) } else { store.uses_since(event).await? };
        Ok(Self { store, repository, since })
    }

    /// The first moment at which a rule that keeps what was used within `keep_s` seconds can remove anything; `None`:
    /// that moment has passed.
    pub(crate) fn waits_until(self, keep_s: u64, now: Millis) -> Option<Millis> {
        let keep = i64::try_from(keep_s).unwrap_or(i64::MAX).saturating_mul(1_000);
        Some(Millis(self.since.0.saturating_add(keep).min(NEVER))).filter(|until| *until >= now)
    }

    /// The last uses of names that begin with `prefix`.
    pub(crate) async fn beginning(self, prefix: &str, event: &mut Event) -> Result<Uses> {
        let days = self.store.last_uses(self.repository.id, prefix, event).await?;
        Ok(Uses { since: self.since, days })
    }

    /// Deletes the last uses of removed packages. A restored package counts as used at its restoration.
    pub(crate) async fn forget(self, names: Vec<String>, event: &mut Event) -> Result<()> {
        Ok(self.store.forget_uses(self.repository.id, names, event).await?)
    }
}

/// Some last uses, ordered by name.
#[derive(Debug, Clone)]
pub(crate) struct Uses {
    since: Millis,
    days: Vec<(String, i64)>,
}

impl Uses {
    /// The last possible use of a version under one of the names that `is` accepts. A use is known by its day and
    /// counts as the end of that day. Nothing counts as used before `published` or before recording began.
    pub(crate) fn last(&self, published: Millis, is: impl Fn(&str) -> bool) -> Millis {
        let days = self.days.iter().filter(|(name, _)| is(name)).map(|(_, day)| *day);
        let used = days.max().map_or(i64::MIN, |day| day.saturating_add(1).saturating_mul(DAY) - 1);
        Millis(used.max(self.since.0).max(published.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_counts_to_the_end_of_its_day_and_what_is_unknown_since_the_recording_began() {
        let uses = Uses { since: Millis(2 * DAY), days: vec![("a-1".into(), 1), ("a-2".into(), 4)] };
        assert_eq!(uses.last(Millis(1), |name| name == "a-2"), Millis(5 * DAY - 1));
        assert_eq!(uses.last(Millis(1), |name| name == "a-1"), Millis(2 * DAY));
        assert_eq!(uses.last(Millis(9 * DAY), |name| name == "a-1"), Millis(9 * DAY));
        assert_eq!(uses.last(Millis(1), |_| false), Millis(2 * DAY));
    }
}
