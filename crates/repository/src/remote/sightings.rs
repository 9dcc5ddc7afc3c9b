//! What was first seen of an upstream, and when: in the journal, so that it is known for every moment since.
//!
//! Beside its files a folder of Maven's has a unit that says how far it is known (`G/A//seen/U`, U stands for the URL of the upstream),
//! and one for each version and plugin that was met there (`G/A//seen/U/versions/1.0`), so that one more costs the same however
//! many there are. Builds are what the folder of a snapshot has. A raw file has one unit, which says its bytes.

use super::Remote;
use super::age::{Known, Met};
use crate::{Error, Format};
use format::maven::metadata;
use format::maven::path::{self, Kind};
use format::tree;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use store::{Digest, RepositoryId, Seq, Store};
use telemetry::{Event, Millis};

/// Units asked of the store at once.
const PAGE: usize = 1_000;

/// What is known of a folder as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Folder {
    /// When something was seen of it first.
    pub(super) seen: Millis,
    /// Whether a list of all that it has was seen. What turns up later is new.
    pub(super) listed: bool,
    /// How many versions and plugins were met.
    pub(super) met: usize,
    /// When POMs of it were looked for last, to see how old versions are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) looked: Option<Millis>,
    /// How often in sequence that told nothing.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) in_vain: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A plugin that was met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plugin {
    pub(super) prefix: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
}

/// The bytes that a raw file was seen to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bytes {
    /// When those were met.
    #[serde(flatten)]
    pub(super) met: Met,
    pub(super) sha256: Digest,
}

/// What a unit says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Says {
    /// When anything was seen of the upstream first.
    First(Millis),
    Folder(Folder),
    Met(Met),
    Plugin(Plugin),
    Bytes(Bytes),
}

/// What a file of Maven's is of: the folder that lists it, and as what; `None`: under a name that has other bytes each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed<'a> {
    pub(super) folder: &'a str,
    pub(super) version: Option<String>,
}

impl<'a> Listed<'a> {
    /// That of the file at `path`; `None`: a document.
    pub(super) fn at(path: &'a str) -> Option<Self> {
        let (_, _, version) = path::version_of(path)?;
        let folder = tree::folder(path);
        if !path::is_snapshot(version) {
            return Some(Self { folder: tree::folder(folder), version: Some(version.to_owned()) });
        }
        let build = match path::read(path).map(|read| read.kind) {
            Some(Kind::Artifact(artifact)) => artifact.build,
            _ => None,
        };
        Some(Self { folder, version: build.map(|build| build.to_string()) })
    }
}

/// The names of units: a number among them stands for the URL, as what another upstream had is not seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units(pub(super) i64);

impl Units {
    /// The unit that says since when anything was seen of the upstream.
    pub(super) fn first(self) -> String {
        self.unit_of("", "first")
    }

    /// The unit of a folder, or of a raw file.
    pub(super) fn unit(self, of: &str) -> String {
        self.unit_of(of, "seen")
    }

    fn unit_of(self, of: &str, what: &str) -> String {
        format!("{of}//{what}/{:016x}", self.0.cast_unsigned())
    }

    /// The unit of a version that a folder has.
    pub(super) fn version(self, folder: &str, version: &str) -> String {
        format!("{}/versions/{version}", self.unit(folder))
    }

    /// The unit of a plugin that a folder has.
    pub(super) fn plugin(self, folder: &str, artifact: &str) -> String {
        format!("{}/plugins/{artifact}", self.unit(folder))
    }
}

/// What the journal has of an upstream, now or as of a change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sightings<'a> {
    pub(super) units: Units,
    store: &'a Store,
    id: RepositoryId,
    through: Option<Seq>,
}

impl<'a> Sightings<'a> {
    /// Those of a remote repository.
    pub(super) fn of(remote: &'a Remote) -> Self {
        let Remote { remotes, repository, .. } = remote;
        Self { units: Units(repository.origin.number()), store: &remotes.store, id: repository.id, through: None }
    }

    /// The same when `through` was the last change.
    pub(super) fn through(self, through: Seq) -> Self {
        Self { through: Some(through), ..self }
    }

    /// What a unit says.
    pub(super) async fn says<T: DeserializeOwned>(self, unit: &str, event: &mut Event) -> Result<Option<T>, Error> {
        Ok(match self.through {
            None => self.says_at(unit, event).await?.0,
            Some(through) => read(unit, self.store.then(through).facts(self.id, unit, event).await?)?,
        })
    }

    /// The same, and the number of the change that said so.
    pub(super) async fn says_at<T: DeserializeOwned>(
        self,
        unit: &str,
        event: &mut Event,
    ) -> Result<(Option<T>, Seq), Error> {
        let known = self.store.facts(self.id, unit, event).await?;
        Ok((read(unit, known.facts)?, known.seq))
    }

    /// All versions that were met in a folder.
    pub(super) async fn versions(self, folder: &str, event: &mut Event) -> Result<BTreeMap<String, Met>, Error> {
        self.all(&self.units.version(folder, ""), event).await
    }

    /// All plugins that were met in a folder.
    pub(super) async fn plugins(self, folder: &str, event: &mut Event) -> Result<BTreeMap<String, Plugin>, Error> {
        self.all(&self.units.plugin(folder, ""), event).await
    }

    /// The same, as metadata has them.
    pub(super) async fn listed_plugins(self, folder: &str, event: &mut Event) -> Result<Vec<metadata::Plugin>, Error> {
        let plugin = |(artifact, Plugin { prefix, name })| metadata::Plugin { name, prefix, artifact };
        Ok(self.plugins(folder, event).await?.into_iter().map(plugin).collect())
    }

    async fn all<T: DeserializeOwned>(self, within: &str, event: &mut Event) -> Result<BTreeMap<String, T>, Error> {
        let (mut all, mut after) = (BTreeMap::new(), String::new());
        loop {
            let part = (within, &*after);
            let units = match self.through {
                None => self.store.known(self.id, part, PAGE, event).await?,
                Some(through) => self.store.then(through).known(self.id, part, PAGE, event).await?,
            };
            let last = units.last().filter(|_| units.len() == PAGE).map(|(unit, _)| unit.clone());
            for (unit, facts) in units {
                let said = read(&unit, facts)?;
                all.extend(unit.strip_prefix(within).map(str::to_owned).zip(said));
            }
            match last {
                Some(last) => after = last,
                None => return Ok(all),
            }
        }
    }

    /// What is known of the file at `path`, whose bytes are these where that is known; `lasting`: it never has others.
    pub(super) async fn known(
        self,
        format: Format,
        (path, sha256, lasting): (&str, Option<Digest>, bool),
        event: &mut Event,
    ) -> Result<Known, Error> {
        if format == Format::Raw {
            // A checksum is as old as its file, where that was seen.
            if let Some((file, _)) = tree::checksum_of(path)
                && let Some(bytes) = self.says::<Bytes>(&self.units.unit(file), event).await?
            {
                return Ok(Known::Met(bytes.met));
            }
            let bytes: Option<Bytes> = self.says(&self.units.unit(path), event).await?;
            return Ok(match (bytes, sha256) {
                (None, _) => Known::Nothing,
                (Some(bytes), Some(sha256)) if bytes.sha256 == sha256 => Known::Met(bytes.met),
                (Some(bytes), None) if lasting => Known::Met(bytes.met),
                (Some(_), _) => Known::Appeared,
            });
        }
        let Some(Listed { folder, version }) = Listed::at(path) else { return Ok(Known::Nothing) };
        let met = match &version {
            Some(version) => self.says(&self.units.version(folder, version), event).await?,
            None => None,
        };
        if let Some(met) = met {
            return Ok(Known::Met(met));
        }
        let folder: Option<Folder> = self.says(&self.units.unit(folder), event).await?;
        Ok(folder.map_or(Known::Nothing, |folder| folder.unmet()))
    }
}

impl Folder {
    /// What is known of something that was not met in the folder.
    pub(super) fn unmet(&self) -> Known {
        if self.listed { Known::Appeared } else { Known::Nothing }
    }
}

fn read<T: DeserializeOwned>(unit: &str, facts: serde_json::Value) -> Result<Option<T>, Error> {
    serde_json::from_value(facts).map_err(|source| Error::Unreadable { key: unit.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_of_its_version_or_of_its_build_and_what_changes_under_its_name_is_of_none() {
        let at = |path: &'static str| Listed::at(path).map(|listed| (listed.folder, listed.version));
        let release = Some(("org/lamp", Some("1.0".to_owned())));
        assert_eq!(at("org/lamp/1.0/lamp-1.0.jar.sha1"), release);
        assert_eq!(at("org/lamp/1.0/notes.txt"), release);
        let build = Some("20260101.120000-1".to_owned());
        assert_eq!(at("org/lamp/1-SNAPSHOT/lamp-1-20260101.120000-1.jar"), Some(("org/lamp/1-SNAPSHOT", build)));
        assert_eq!(at("org/lamp/1-SNAPSHOT/lamp-1-SNAPSHOT.jar"), Some(("org/lamp/1-SNAPSHOT", None)));
        assert_eq!((at("org/lamp/maven-metadata.xml"), at("robots.txt")), (None, None));
    }

    #[test]
    fn the_journal_reads_what_it_wrote() {
        let met = Met { seen: Millis(5), since: Millis(1), open: true };
        let written = serde_json::to_value(Says::Bytes(Bytes { met, sha256: Digest([7; 32]) })).unwrap();
        assert_eq!(read::<Bytes>("unit", written).unwrap().map(|bytes| bytes.met), Some(met));
        assert_eq!(read::<Met>("unit", serde_json::Value::Null).unwrap(), None);
    }
}
