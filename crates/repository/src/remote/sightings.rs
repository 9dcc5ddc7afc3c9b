//! What was first seen of an upstream, and when: in the journal, so that it is known for every moment since.
//!
//! A folder of Maven's has one unit beside its files (`G/A//seen`) that says which versions and plugins were met there so far; a
//! file of a raw repository has one that says its digest. Whoever fetched something writes what is new of it, once the file has
//! gone out to all who waited.

use super::incoming::document;
use super::{KeptFile, Remote, kind};
use crate::work::aside;
use crate::{Error, Format};
use format::maven::metadata::{Metadata, Plugin};
use format::maven::path::{self, Kind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use store::{Batch, Change, CommitError, Digest, Expect, Lane};
use telemetry::{Event, Millis, Op};

/// The unit that says since when anything was seen of a repository's upstream.
pub(super) const FIRST: &str = "//seen";
/// How often it is tried again while others see something in the same folder.
const TRIES: usize = 100;
/// Most versions of a folder that are remembered: more than any artifact has.
const VERSIONS_MAX: usize = 20_000;
/// So many bytes of metadata are read in about the time of a row.
const ROW_BYTES: u64 = 1024;
/// Under whose name it is journaled.
const DAYLIGHT: &str = "daylight";

/// What was seen so far, in a folder or of a file, or of the whole upstream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Seen {
    /// Stands for the URLs of the upstream that it was seen of.
    of: i64,
    /// When something was seen first.
    pub(super) since: Millis,
    /// Versions, and when each was seen first.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) versions: BTreeMap<String, Millis>,
    /// Whether metadata of the folder was seen, so that these are all that the upstream told.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) listed: bool,
    /// The artifacts of plugins, with their prefixes and names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) plugins: BTreeMap<String, (String, Option<String>)>,
    /// The bytes of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<Digest>,
}

/// What somebody saw now.
#[derive(Debug, Default)]
struct Sight {
    unit: String,
    versions: Vec<String>,
    listed: bool,
    plugins: Vec<Plugin>,
    sha256: Option<Digest>,
}

/// The unit that says what was seen of a folder, or of a file.
pub(super) fn unit(of: &str) -> String {
    format!("{of}{FIRST}")
}

impl Seen {
    /// What the journal says, of the upstream that these URLs stand for: what another had is not its.
    pub(super) fn read(unit: &str, facts: Value, of: i64) -> Result<Option<Self>, Error> {
        let seen: Option<Self> =
            serde_json::from_value(facts).map_err(|source| Error::Unreadable { key: unit.to_owned(), source })?;
        Ok(seen.filter(|seen| seen.of == of))
    }

    /// The same with what was seen now; `None` where nothing of it is new.
    fn with(&self, sight: &Sight, now: Millis) -> Option<Self> {
        let mut after = self.clone();
        let room = VERSIONS_MAX.saturating_sub(self.versions.len());
        let new = sight.versions.iter().filter(|version| !self.versions.contains_key(*version)).take(room);
        after.versions.extend(new.map(|version| (version.clone(), now)));
        for Plugin { artifact, prefix, name } in sight.plugins.iter().take(VERSIONS_MAX) {
            after.plugins.insert(artifact.clone(), (prefix.clone(), name.clone()));
        }
        after.sha256 = sight.sha256.or(self.sha256);
        after.listed |= sight.listed;
        (after != *self).then_some(after)
    }
}

impl Sight {
    /// What a file that was fetched tells. `None`: nothing that is remembered.
    fn of(format: Format, path: &str, kept: &KeptFile) -> io::Result<Option<Self>> {
        if format == Format::Raw {
            let sha256 = Some(kept.known.hashes.sha256);
            return Ok(Some(Self { unit: unit(path), sha256, ..Self::default() }));
        }
        let Some(read) = path::read(path).filter(|read| read.checksum.is_none()) else { return Ok(None) };
        Ok(match read.kind {
            Kind::Artifact(artifact) => Some(Self {
                unit: unit(&format!("{}/{}", artifact.group, artifact.artifact)),
                versions: vec![artifact.version.to_owned()],
                ..Self::default()
            }),
            Kind::Metadata(at) => match at.folder.rsplit_once('/').filter(|_| at.snapshot().is_some()) {
                Some((above, version)) => {
                    Some(Self { unit: unit(above), versions: vec![version.to_owned()], ..Self::default() })
                }
                None => {
                    // It was read when it came.
                    let Ok(Metadata { versions, plugins, .. }) =
                        Metadata::read(&document(&kept.held, kept.known.hashes.size_bytes)()?)
                    else {
                        return Ok(None);
                    };
                    Some(Self { unit: unit(at.folder), versions, listed: true, plugins, sha256: None })
                }
            },
            _ => None,
        })
    }
}

/// Writes what a file that was fetched tells, where that is new.
pub(super) async fn note(remote: &Remote, path: &str, kept: &KeptFile, event: &mut Event) -> Result<(), Error> {
    let (store, repository) = (&remote.remotes.store, &remote.repository);
    let (id, of, now) = (repository.id, repository.origin.number(), remote.now());
    let (format, file) = (repository.format, (path.to_owned(), kept.clone()));
    // What cannot be read again is told by who asks for it next.
    let look = move || Ok(Sight::of(format, &file.0, &file.1).unwrap_or_default());
    let rows = usize::try_from(kept.known.hashes.size_bytes / ROW_BYTES).unwrap_or(usize::MAX);
    let rows = if kind::is_metadata(format, path) { rows } else { 0 };
    let sight = aside(&remote.remotes.workers, (Lane::Index, Op::PackageRead), rows, event, look).await?;
    let Some(sight) = sight else { return Ok(()) };
    let nothing = || Seen { of, since: now, ..Seen::default() };
    for _ in 0..TRIES {
        let known = store.facts(id, &sight.unit, event).await?;
        let before = Seen::read(&sight.unit, known.facts, of)?.unwrap_or_else(nothing);
        let Some(after) = before.with(&sight, now) else { return Ok(()) };
        let (mut expect, mut changes) = (vec![Expect::RepositoryLives(id)], Vec::new());
        let mut set = |unit: &str, seq, seen: Seen| {
            let facts =
                serde_json::to_value(seen).map_err(|source| Error::Unreadable { key: unit.to_owned(), source })?;
            expect.push(Expect::UnitAt { repository: id, unit: unit.to_owned(), seq });
            changes.push(Change::Unit { repository: id, unit: unit.to_owned(), facts });
            Ok::<_, Error>(())
        };
        let first = store.facts(id, FIRST, event).await?;
        set(&sight.unit, known.seq, after)?;
        if Seen::read(FIRST, first.facts, of)?.is_none() {
            set(FIRST, first.seq, nothing())?;
        }
        match store.commit(Batch { by: DAYLIGHT.to_owned(), at: now, expect, changes }, event).await {
            Ok(_) => return Ok(()),
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::UnitAt { .. }) => {}
            // It was removed.
            Err(CommitError::Conflict(_)) => return Ok(()),
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(sight.unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: i64 = 7;

    fn sight(versions: &[&str]) -> Sight {
        Sight { versions: versions.iter().map(|version| (*version).to_owned()).collect(), ..Sight::default() }
    }

    #[test]
    fn what_was_seen_before_is_no_news_and_keeps_its_moment() {
        let nothing = Seen { of: OF, since: Millis(1), ..Seen::default() };
        let first = nothing.with(&sight(&["1.0"]), Millis(1)).unwrap();
        assert_eq!(first.with(&sight(&["1.0"]), Millis(2)), None);
        assert_eq!(first.with(&sight(&[]), Millis(2)), None);
        let second = first.with(&sight(&["1.0", "1.1"]), Millis(3)).unwrap();
        assert_eq!(second.versions, [("1.0".into(), Millis(1)), ("1.1".into(), Millis(3))].into());
        assert_eq!(second.with(&sight(&["1.1"]), Millis(4)), None, "what is listed no longer was seen all the same");
        let listed = second.with(&Sight { listed: true, ..sight(&[]) }, Millis(5)).unwrap();
        assert!(listed.listed && listed.with(&sight(&["1.0"]), Millis(6)).is_none());
    }

    #[test]
    fn versions_have_an_end_so_that_no_upstream_fills_the_journal() {
        let many: Vec<String> = (0..VERSIONS_MAX + 5).map(|number| number.to_string()).collect();
        let sight = Sight { versions: many, ..Sight::default() };
        let seen = Seen::default().with(&sight, Millis(1)).unwrap();
        assert_eq!(seen.versions.len(), VERSIONS_MAX);
        assert_eq!(seen.with(&Sight { versions: vec!["other".into()], ..Sight::default() }, Millis(2)), None);
    }

    #[test]
    fn what_another_upstream_had_is_not_seen_and_the_journal_reads_what_it_wrote() {
        let seen = Seen { of: OF, ..Seen::default() }.with(&sight(&["1.0"]), Millis(1)).unwrap();
        let facts = serde_json::to_value(&seen).unwrap();
        assert_eq!(Seen::read("unit", facts.clone(), OF).unwrap(), Some(seen));
        assert_eq!(Seen::read("unit", facts, OF + 1).unwrap(), None);
        assert_eq!(Seen::read("unit", Value::Null, OF).unwrap(), None);
    }
}
