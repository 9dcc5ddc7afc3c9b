//! Which versions a folder of Maven's lists: what the journal keeps of the unit `G/A` beside its files.
//!
//! A version is listed with its POM, in the same batch: who reads of it in the metadata finds it. So the metadata is never
//! what the last deployer read, added to and wrote back, and deployers who come at the same time lose nothing.

use crate::hosted::Hosted;
use crate::visible::Row;
use crate::{Error, View, visible};
use format::maven::path::{self, Artifact, Kind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Change, Entry, Expect, State};
use telemetry::{Event, Millis};

/// What is listed in a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Listing {
    /// If it is the folder of an artifact: its versions, in the order in which they were first published.
    pub(super) versions: Vec<Listed>,
}

/// A version, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listed {
    /// The version, of a snapshot that of all its builds.
    pub(super) version: String,
    pub(super) state: State,
    pub(super) published: Millis,
    pub(super) changed: Millis,
}

impl Row for Listed {
    fn standing(&self) -> (State, Millis, Millis) {
        (self.state, self.published, self.changed)
    }
}

/// What a change of files has to bring and to expect besides.
#[derive(Debug, Default)]
pub(super) struct Besides {
    pub(super) expect: Vec<Expect>,
    pub(super) changes: Vec<Change>,
}

impl Listing {
    /// As the journal has it.
    pub(super) fn read(folder: &str, facts: Value) -> Result<Self, Error> {
        if facts.is_null() {
            return Ok(Self::default());
        }
        serde_json::from_value(facts).map_err(|source| Error::Unreadable { key: folder.to_owned(), source })
    }

    /// Lists a version, or no longer; whether that is a change.
    fn set(&mut self, version: &str, state: State, at: Millis) -> bool {
        let there = self.versions.iter_mut().find(|listed| listed.version == version);
        match there {
            Some(there) if there.state == state => return false,
            Some(there) => (there.state, there.changed) = (state, at),
            None if state == State::Withdrawn => return false,
            None => self.versions.push(Listed { version: version.to_owned(), state, published: at, changed: at }),
        }
        true
    }
}

/// The artifact whose POM a path is.
pub(super) fn pom(path: &str) -> Option<Artifact<'_>> {
    let read = path::read(path).filter(|read| read.checksum.is_none())?;
    let Kind::Artifact(artifact) = read.kind else { return None };
    (artifact.classifier.is_none() && artifact.extension == "pom").then_some(artifact)
}

/// What it takes to list the version of `artifact`, or no longer.
pub(super) async fn set(
    hosted: Hosted<'_>,
    artifact: Artifact<'_>,
    state: State,
    at: Millis,
    event: &mut Event,
) -> Result<Besides, Error> {
    let (id, unit) = (hosted.repository.id, format!("{}/{}", artifact.group, artifact.artifact));
    let known = hosted.store.facts(id, &unit, event).await?;
    let mut listing = Listing::read(&unit, known.facts)?;
    // Expected also where nothing is to be changed: else somebody could take it from the list meanwhile.
    let expect = vec![Expect::UnitAt { repository: id, unit: unit.clone(), seq: known.seq }];
    let mut changes = Vec::new();
    if listing.set(artifact.version, state, at) {
        let facts = serde_json::to_value(&listing);
        let facts = facts.map_err(|source| Error::Unreadable { key: unit.clone(), source })?;
        changes.push(Change::Unit { repository: id, unit, facts });
    }
    Ok(Besides { expect, changes })
}

/// What it takes besides, when of the files of a folder, `before`, these become `changed`.
pub(super) async fn follow(
    hosted: Hosted<'_>,
    before: &[Entry],
    changed: &[Entry],
    view: View<'_>,
    event: &mut Event,
) -> Result<Besides, Error> {
    let Some(artifact) = changed.iter().find_map(|entry| pom(&entry.key)) else { return Ok(Besides::default()) };
    let unchanged = before.iter().filter(|entry| changed.iter().all(|changed| changed.key != entry.key));
    let poms: Vec<Entry> = unchanged.chain(changed).filter(|entry| pom(&entry.key).is_some()).cloned().collect();
    let state = match visible(&poms, view).next() {
        Some(_) => State::Live,
        None => State::Withdrawn,
    };
    set(hosted, artifact, state, view.now, event).await
}
