//! The older index: `specs.4.8.gz`, `latest_specs.4.8.gz` and `prerelease_specs.4.8.gz`. A change renders its gem again and
//! codes the chunk that it is in; the rest stays as it was made the first time, which takes long and is done once.

#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::gem::Found;
use crate::gem::from_rows;
use crate::gem::hosted::Hosted;
use crate::gem::versions::touched;
use crate::index::incremental_index::{IncrementalIndex, IndexSource};
use crate::index::rope::chunks::{ChunkPart, Chunks};
use crate::index::rope::chunks::{UNITS, Written};
use crate::index::rope::coded::{Coded, gzip};
use crate::index::rope::form::{self, Mark};
use crate::policy::rules::View;
use crate::repository::Repository;
use crate::visible;
use crate::visible::Row;
use bytes::Bytes;
use format::gem::{Identity, dependencies, specs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Facts, Outline, Seq};
use telemetry::{Event, Millis};
use tokio::sync::Mutex;

/// The three files, and up to where they go.
#[derive(Debug)]
pub(crate) struct Specs {
    chunks: Chunks<3>,
    through: Seq,
    /// When they last became others.
    modified: Millis,
    /// While they are made for the first time, the last name that was read.
    at: Option<String>,
    /// Gems.
    unwritten: u64,
}

/// A file as it is sent: gzip, which is no coding of it but what it is.
#[derive(Debug, Clone)]
pub struct Packed {
    /// Its bytes.
    pub pieces: Arc<[Bytes]>,
    /// When it last became another, or later.
    pub modified: Millis,
}

/// What the file in the data folder says of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    mark: Mark,
    modified: i64,
    at: Option<String>,
    chunks: Vec<Written>,
}

/// One of the three files.
pub(crate) async fn specs(
    hosted: Hosted<'_>,
    file: specs::File,
    now: Millis,
    event: &mut Event,
) -> Result<Found, Error> {
    if hosted.by_rows() {
        return from_rows::specs(hosted, file, now, event).await;
    }
    let found = |files: [Packed; 3]| Found::Packed(files[file as usize].clone());
    let mut turn = hosted.repository.shared.specs.clone().lock_owned().await;
    if let Some(files) = turn.current(hosted, now) {
        return Ok(found(files));
    }
    let stamp = hosted.stamp()?;
    turn = hosted.found(turn, event).await?;
    if turn.made.is_none() {
        let (through, at) = (hosted.store.last(), Some(String::new()));
        turn.replace(Specs { chunks: Chunks::new(), through, modified: now, at, unwritten: 0 });
    }
    while let Some(after) = turn.made.as_ref().and_then(|made| made.at.clone()) {
        let (units, rest) = read(hosted, &after, now, event).await?;
        (turn, ()) = hosted.work(turn, event, move |made| made.append(units, rest)).await?;
    }
    loop {
        let made = turn.made.as_ref().ok_or(Error::GivenUp)?;
        let (touched, through, last) = touched(hosted, made.through, event).await?;
        let changes = rendered(hosted, touched.into_keys().collect(), now, event).await?.into_iter().collect();
        (turn, ()) = hosted.work(turn, event, move |made| made.change(changes, through, now)).await?;
        if last {
            break;
        }
    }
    let files;
    (turn, files) = hosted.work(turn, event, |made| made.files()).await?;
    Ok(found(hosted.settle(turn, stamp, files)))
}

/// The next chunk after a name, and the last name that was read, unless there are no more.
async fn read(
    hosted: Hosted<'_>,
    after: &str,
    now: Millis,
    event: &mut Event,
) -> Result<(Vec<(String, [ChunkPart; 3])>, Option<String>), Error> {
    let names = hosted.store.units(hosted.repository.id, after, UNITS, event).await?;
    let last = names.last().filter(|_| names.len() == UNITS).cloned();
    Ok((rendered(hosted, names, now, event).await?, last))
}

/// What these gems say, from their versions in outline, where those are read.
async fn rendered(
    hosted: Hosted<'_>,
    names: Vec<String>,
    now: Millis,
    event: &mut Event,
) -> Result<Vec<(String, [ChunkPart; 3])>, Error> {
    let repository = hosted.repository.clone();
    let render = move |name: &str, rows: Vec<Outline>| Ok((name.to_owned(), parts(name, &rows, repository.view(now))?));
    hosted.store.outlines(hosted.repository.id, names, render, event).await?.into_iter().collect()
}

/// What one gem has in each of the three files, newest first. Its first element defines the symbols again, so that it may
/// stand anywhere; all others link to those of the first in the file.
fn parts(name: &str, rows: &[Outline], view: View<'_>) -> Result<[ChunkPart; 3], Error> {
    parts_of(name, rows, view, |row| identity(name, &row.facts))
}

/// The same of rows of any kind, of which `identity` tells what each is.
pub(crate) fn parts_of<R: Row>(
    name: &str,
    rows: &[R],
    view: View<'_>,
    identity: impl Fn(&R) -> Result<Identity, Error>,
) -> Result<[ChunkPart; 3], Error> {
    let seen = visible(rows, view).map(|seen| identity(seen.entry()));
    let mut versions = seen.collect::<Result<Vec<_>, Error>>()?;
    versions.sort_by(|a, b| (&b.number, &b.platform).cmp(&(&a.number, &a.platform)));
    let latest = specs::latest(versions.iter().map(|version| (&version.number, version.platform.as_str())));
    let file = |these: Vec<&Identity>| {
        let mut part = ChunkPart::default();
        for version in these {
            let first = part.count == 0;
            specs::tuple(&mut part.bytes, name, version.number.as_str(), &version.platform, first);
            part.count += 1;
        }
        part
    };
    let (young, released) = versions.iter().partition(|version| version.number.prerelease());
    Ok([file(released), file(latest.into_iter().map(|at| &versions[at]).collect()), file(young)])
}

/// One that was pushed by a version that kept nothing in short is read whole.
fn identity(name: &str, facts: &Facts) -> Result<Identity, Error> {
    match facts {
        Facts::Brief(brief) => Ok(dependencies::identity(brief)?),
        Facts::Whole(facts) => {
            let unreadable = |source| Error::Unreadable { key: name.to_owned(), source };
            serde_json::from_str(facts.get()).map_err(unreadable)
        }
    }
}

/// One of the three files, of all that they hold.
pub(crate) fn packed(chunks: &Chunks<3>, file: specs::File, modified: Millis) -> Result<Packed, Error> {
    let (count, chunks) = chunks.file(file as usize);
    let opening = Coded::of(&specs::opening(count))?;
    Ok(Packed { pieces: gzip([&opening].into_iter().chain(chunks)), modified })
}

impl Specs {
    fn append(&mut self, units: Vec<(String, [ChunkPart; 3])>, at: Option<String>) -> Result<(), Error> {
        self.unwritten += units.len() as u64;
        self.chunks.append(units)?;
        self.at = at;
        Ok(())
    }

    fn change(&mut self, changes: BTreeMap<String, [ChunkPart; 3]>, through: Seq, now: Millis) -> Result<(), Error> {
        self.unwritten += changes.len() as u64;
        if self.chunks.change(changes)? {
            self.modified = self.modified.max(now);
        }
        self.through = through;
        Ok(())
    }

    fn files(&self) -> Result<[Packed; 3], Error> {
        let file = |file| packed(&self.chunks, file, self.modified);
        Ok([file(specs::File::Released)?, file(specs::File::Latest)?, file(specs::File::Prerelease)?])
    }
}

impl IndexSource for Specs {
    const FILE: &'static str = "specs";
    const MUCH: u64 = 10_000;
    type Whole = [Packed; 3];

    fn slot(repository: &Repository) -> &Arc<Mutex<IncrementalIndex<Self>>> {
        &repository.shared.specs
    }

    fn through(&self) -> Seq {
        self.through
    }

    fn weight(&self) -> u64 {
        self.chunks.weight()
    }

    fn unwritten(&mut self) -> &mut u64 {
        &mut self.unwritten
    }

    fn write(&self, mark: Mark) -> Option<Vec<Bytes>> {
        let (chunks, body) = self.chunks.parts();
        form::write(&Head { mark, modified: self.modified.0, at: self.at.clone(), chunks }, body)
    }

    fn read(bytes: Bytes) -> Option<(Self, Mark)> {
        let (Head { mark, modified, at, chunks }, body) = form::read(bytes)?;
        let chunks = Chunks::read(chunks, body)?;
        let (through, modified) = (mark.through, Millis(modified));
        Some((Self { chunks, through, modified, at, unwritten: 0 }, mark))
    }
}
