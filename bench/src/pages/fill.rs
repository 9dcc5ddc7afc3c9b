//! Data folders with many names and with large levels, written in commits of the store with the rows that an upload of a POM makes.

use crate::corpus::{self, WORDS};
use crate::group::fill::{filling, repositories};
use crate::http::Connection;
use crate::process::{Server, TOKEN};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use store::{Batch, Change, Entry, Hashes, RepositoryId, State, Store};
use telemetry::{Event, Millis};

/// The hosted Maven repository.
pub(super) const REPOSITORY: &str = "bench-maven";
/// The gem and the artifact with some hundred versions.
pub(super) const GEM: &str = "lamp-of-the-bench";
pub(super) const ARTIFACT: &str = "org.example.bench:lamp";
/// The number of their versions.
pub(super) const VERSIONS: usize = 300;
/// Artifacts of a group.
const IN_GROUP: usize = 200;
/// The approximate number of changes in a commit.
const BATCH: usize = 5000;

/// A version of an artifact.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Coordinates {
    /// The group with slashes.
    pub(super) group: String,
    pub(super) artifact: String,
    version: String,
}

impl Coordinates {
    fn new(group: impl Into<String>, artifact: impl Into<String>, version: impl Into<String>) -> Self {
        Self { group: group.into(), artifact: artifact.into(), version: version.into() }
    }

    /// `GROUP:ARTIFACT`.
    pub(super) fn name(&self) -> String {
        format!("{}:{}", self.group.replace('/', "."), self.artifact)
    }

    fn pom(&self) -> String {
        let Self { group, artifact, version } = self;
        format!("{group}/{artifact}/{version}/{artifact}-{version}.pom")
    }
}

/// The artifact with this number among the many names.
pub(super) fn named(number: usize) -> Coordinates {
    let (group, place, all) = (number / IN_GROUP, number % IN_GROUP, WORDS.len());
    let artifact = format!("{}-{}-{place}", WORDS[(place * 31 + group) % all], WORDS[(group * 13 + place * 5) % all]);
    let group = format!("com/{}/{}", WORDS[group % all], WORDS[group / all * 5 % all]);
    Coordinates::new(group, artifact, format!("1.{}", number % 10))
}

/// A version of `of` in the large levels: a fifth belong to one artifact, a fifth are artifacts of one group, and a
/// thousand of the others are in a group each.
fn placed(number: usize, of: usize) -> Coordinates {
    let fifth = of / 5;
    if number < fifth {
        Coordinates::new("org/deep", "lamp", format!("1.{number:06}"))
    } else if number < 2 * fifth {
        Coordinates::new("org/broad", format!("a{:06}", number - fifth), "1.0")
    } else {
        let (group, rest) = ((number - 2 * fifth) / 1000, (number - 2 * fifth) % 1000);
        Coordinates::new(format!("com/g{group:04}"), format!("a{:03}", rest / 10), format!("1.{}", rest % 10))
    }
}

/// A new data folder with this many gems, this many artifacts with a version each, and a gem and an artifact with many versions.
pub(super) fn names(data: &Path, gems: usize, artifacts: usize) -> Result<()> {
    corpus::write(data, gems)?;
    maven(data, (0..artifacts).map(named))?;
    let logs = tempfile::tempdir()?;
    let server = Server::daylight_on(data, logs.path(), &[])?;
    crate::hit::publish(&server, GEM, VERSIONS)?;
    let mut connection = Connection::open(server.address.parse()?)?;
    for version in 0..VERSIONS {
        let of = Coordinates::new("org/example/bench", "lamp", format!("1.{version}"));
        let path = format!("/repository/{REPOSITORY}/{}", of.pom());
        let reply = connection.call("PUT", &path, &[("Authorization", TOKEN)], pom(&of).as_bytes())?;
        ensure!(reply.status == 201, "{path}: {} {}", reply.status, reply.text());
    }
    Ok(())
}

/// A new data folder with this many folders of versions.
pub(super) fn levels(data: &Path, folders: usize) -> Result<()> {
    maven(data, (0..folders).map(|number| placed(number, folders)))
}

fn pom(of: &Coordinates) -> String {
    let Coordinates { group, artifact, version } = of;
    let group = group.replace('/', ".");
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
         <version>{version}</version><name>A lamp</name><description>Light for long evenings</description>\
         <licenses><license><name>Apache-2.0</name></license></licenses><dependencies><dependency><groupId>org.example</groupId>\
         <artifactId>wick</artifactId><version>2.1</version></dependency></dependencies></project>"
    )
}

/// Adds a hosted Maven repository with the POM of each of these, sorted by group and artifact, to a data folder.
fn maven(data: &Path, all: impl Iterator<Item = Coordinates>) -> Result<()> {
    let began = Instant::now();
    repositories(data, [json!({ "name": REPOSITORY, "format": "maven", "kind": "hosted" })])?;
    let count = filling(data, async |store, now| commit_all(store, all, now).await)?;
    println!("{count} POMs committed in {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

async fn commit_all(store: &Arc<Store>, all: impl Iterator<Item = Coordinates>, now: Millis) -> Result<usize> {
    let mut event = Event::job("fill", now);
    let found = store.repositories(&mut event).await?;
    let (id, _) = found.iter().find(|(_, record)| record.name == REPOSITORY).context("no repository was made")?;
    // All files have the same bytes: their names matter here.
    let mut staged = store.stage(&mut event).await?;
    staged.write(pom(&named(0)).into_bytes().into(), &mut event).await?;
    let hashes = store.keep(staged, &mut event).await?.hashes;
    let (mut count, mut changes, mut before) = (0, Vec::new(), None);
    for of in all {
        let at = store.now();
        changes.extend(published(*id, &of, before.as_ref(), &hashes, at)?);
        count += 1;
        before = Some(of);
        if changes.len() >= BATCH {
            store.commit(batch(at, std::mem::take(&mut changes)), &mut event).await?;
        }
    }
    store.commit(batch(store.now(), changes), &mut event).await?;
    store.ship_now(&mut event).await?;
    Ok(count)
}

/// The changes of an upload: the file, its version in the list of the artifact, and the revisions of new names.
fn published(
    repository: RepositoryId,
    of: &Coordinates,
    before: Option<&Coordinates>,
    hashes: &Hashes,
    at: Millis,
) -> Result<Vec<Change>> {
    let Coordinates { group, artifact, version } = of;
    let folder = format!("{group}/{artifact}");
    let raised = |unit: &str| Change::Unit { repository, unit: unit.to_owned(), facts: Value::Null };
    let facts = json!({
        "group": group.replace('/', "."), "artifact": artifact, "version": version, "classifier": null, "extension": "pom",
    });
    let entry = Entry { facts, ..Entry::live(format!("{folder}/{version}"), of.pom(), hashes.clone(), at) };
    let listed = json!({ "version": version, "state": State::Live, "published": at, "changed": at });
    let mut changes = vec![
        Change::Entry { repository, entry },
        Change::Unit { repository, unit: format!("{folder}//versions/{version}"), facts: listed },
    ];
    if before.is_none_or(|before| (&before.group, &before.artifact) != (group, artifact)) {
        changes.push(raised(&folder));
    }
    if before.is_none_or(|before| before.group != *group) {
        changes.push(raised(group));
    }
    Ok(changes)
}

fn batch(at: Millis, changes: Vec<Change>) -> Batch {
    let (by, from) = ("daylight".to_owned(), "cli".to_owned());
    Batch { by, from, at, expect: Vec::new(), changes, holds: Vec::new(), authors: Vec::new() }
}
