//! Purges or restores the versions of a gem that an operator names.

use crate::actor::Actor;
use crate::cleanup::purge::purged;
use crate::error::Result;
use crate::error::unrestorable::Unrestorable;
use crate::gem::change_versions::change;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::facts;
use store::{Entry, Keep, Lane, State, Withdrawal};
use telemetry::{Event, Millis};

/// Maximum number of readings of a name with dashes.
const READINGS_MAX: usize = 8;

/// The versions of `NAME`, or of `NAME:VERSION`: a number with all its builds, or one build, such as `1.0-java`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named<'a> {
    name: &'a str,
    version: Option<&'a str>,
}

impl<'a> Named<'a> {
    fn read(what: &'a str) -> Self {
        match what.split_once(':') {
            Some((name, version)) => Self { name, version: Some(version) },
            None => Self { name: what, version: None },
        }
    }

    /// The first reading of `what` that is an existing gem: in the syntax of [`Self::read`], or as plans and indexes
    /// name a version, `NAME-VERSION` or its path.
    pub(crate) async fn find(hosted: Hosted<'_>, what: &'a str, event: &mut Event) -> Result<Self> {
        for one in Self::readings(what) {
            if !hosted.store.unit(hosted.repository.id, one.name, Lane::Index, event).await?.entries.is_empty() {
                return Ok(one);
            }
        }
        Ok(Self::read(what))
    }

    fn readings(what: &'a str) -> impl Iterator<Item = Self> {
        let file = what.strip_prefix("gems/").unwrap_or(what);
        let full_name = file.strip_suffix(".gem").unwrap_or(file);
        let dashes = full_name.match_indices('-').filter(move |_| !what.contains(':'));
        let split = dashes.map(move |(at, _)| Self { name: &full_name[..at], version: Some(&full_name[at + 1..]) });
        let numbers =
            split.filter(|one| one.version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit())));
        std::iter::once(Self::read(what)).chain(numbers.take(READINGS_MAX))
    }

    /// The name of the gem.
    pub(crate) fn name(self) -> &'a str {
        self.name
    }

    /// Whether it names the version of this entry.
    pub(crate) fn is(self, entry: &Entry) -> Result<bool> {
        let Some(version) = self.version else { return Ok(true) };
        let build = entry.key.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('-'));
        Ok(build == Some(version) || facts(entry)?.number.as_str() == version)
    }

    /// The entries that `change` changes.
    fn changed(self, entries: &[Entry], change: impl Fn(&Entry) -> Option<Entry>) -> Result<Vec<Entry>> {
        let mut changed = Vec::new();
        for entry in entries {
            if self.is(entry)? {
                changed.extend(change(entry));
            }
        }
        Ok(changed)
    }
}

/// Returns the versions that a purge changes. If `by` is an actor, they are purged.
pub(crate) async fn purge(
    hosted: Hosted<'_>,
    what: &str,
    why: &str,
    by: Option<Actor<'_>>,
    event: &mut Event,
) -> Result<Vec<Entry>> {
    let what = Named::find(hosted, what, event).await?;
    let which = |entries: &[Entry], at| what.changed(entries, |entry| purged(entry, why, at));
    match by {
        Some(by) => change(hosted, what.name, which, by, event).await,
        None => {
            let unit = hosted.store.unit(hosted.repository.id, what.name, Lane::Index, event).await?;
            which(&unit.entries, hosted.store.now())
        }
    }
}

/// Restores versions that a cleanup removed within `store.undo`. Returns how many.
pub(crate) async fn restore(hosted: Hosted<'_>, what: &str, by: Actor<'_>, event: &mut Event) -> Result<u64> {
    let what = Named::find(hosted, what, event).await?;
    let cleaned =
        |entry: &Entry| entry.state == State::Withdrawn && matches!(entry.withdrawal, Some(Withdrawal::Cleanup { .. }));
    let unit = hosted.store.unit(hosted.repository.id, what.name, Lane::Index, event).await?;
    let removed = what.changed(&unit.entries, |entry| cleaned(entry).then(|| entry.clone()))?;
    let label = what.version.map_or_else(|| what.name.to_owned(), |version| format!("{}:{version}", what.name));
    if removed.is_empty() {
        let yanked = |entry: &Entry| entry.state == State::Withdrawn && entry.keep() == Keep::Horizon;
        let yanked = what.changed(&unit.entries, |entry| yanked(entry).then(|| entry.clone()))?;
        let why = if yanked.is_empty() { Unrestorable::NotCleaned } else { Unrestorable::Yanked };
        return Err(why(label).into());
    }
    let undo = hosted.store.blob_life().undo;
    let which = |entries: &[Entry], at: Millis| {
        let restorable = |entry: &Entry| cleaned(entry) && entry.changed.plus(undo) >= at;
        what.changed(entries, |entry| restorable(entry).then(|| entry.restored(at)))
    };
    match change(hosted, what.name, which, by, event).await?.len() {
        0 => Err(Unrestorable::TooLate(label).into()),
        restored => Ok(restored as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_named_as_in_commands_in_plans_and_in_urls() {
        let readings = |what| Named::readings(what).map(|one| (one.name, one.version)).collect::<Vec<_>>();
        assert_eq!(readings("lamp:1.0-java"), [("lamp", Some("1.0-java"))]);
        assert_eq!(readings("lamp-1.0-java"), [("lamp-1.0-java", None), ("lamp", Some("1.0-java"))]);
        assert_eq!(readings("gems/a-2-b-1.0.gem")[1..], [("a", Some("2-b-1.0")), ("a-2-b", Some("1.0"))]);
        assert_eq!(readings(&"-1".repeat(1_000)).len(), 1 + READINGS_MAX);
    }
}
