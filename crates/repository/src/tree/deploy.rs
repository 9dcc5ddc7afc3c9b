//! Publishing a file: bytes first, so that no row ever points at bytes that are not on disk; the acknowledgement last.

use crate::actor::Actor;
use crate::content::digits;
use crate::error::Error;
use crate::found::Found;
use crate::maven::listing_changes;
use crate::maven::listing_changes::{ListingChanges, PomListings};
use crate::maven::retention;
use crate::maven::uploaded_metadata;
use crate::tree::TRIES;
use crate::tree::Tree;
use crate::tree::fetch::find;
use crate::tree::place;
use crate::tree::place::{File, Place};
use format::maven;
use format::maven::path::{Artifact, Kind};
use format::tree::{self as paths, Checksum};
use store::{Batch, Change, CommitError, Digest, Entry, Expect, Lane, Seq, Staged, State};
use telemetry::{Event, Millis, Op};

/// Takes what was uploaded as the file at `path`.
///
/// A checksum is compared and not kept: it is computed for whoever asks. Metadata is made here from what was published, as
/// deployers who read it, add to it and write it back lose what others added meanwhile; theirs is taken and not kept either.
pub(crate) async fn deploy(
    tree: Tree<'_>,
    path: &str,
    staged: Staged,
    (by, now): (Actor<'_>, impl Fn() -> Millis),
    event: &mut Event,
) -> Result<Found, Error> {
    match place::read(tree.repository.format, path) {
        None => Err(Error::NotInLayout(path.to_owned())),
        Some(Place::Made(Kind::Metadata(at))) => {
            uploaded_metadata::take(tree, at, &staged, (by, now), event).await?;
            Ok(Found::Kept(true))
        }
        Some(Place::Made(_)) => Err(Error::MadeHere(path.to_owned())),
        Some(Place::Checksum(file, checksum)) => {
            let said = said(checksum, &staged, event).await?;
            let said = said.ok_or_else(|| Error::ChecksumUnreadable { path: path.to_owned(), checksum })?;
            compare(tree, (file, checksum), said, now(), event).await?;
            Ok(Found::Kept(true))
        }
        Some(Place::File(file)) => {
            // A raw repository keeps checksums as files, and what cannot be read as one may be another tool's.
            if let Some((beside, checksum)) = paths::checksum_of(path)
                && let Some(said) = said(checksum, &staged, event).await?
            {
                compare(tree, (beside, checksum), said, now(), event).await?;
            }
            publish(tree, file, staged, (by, now), event).await
        }
    }
}

/// Publishes a file. What lasts is immutable: identical bytes again succeed.
async fn publish(
    tree: Tree<'_>,
    file: File<'_>,
    staged: Staged,
    (by, now): (Actor<'_>, impl Fn() -> Millis),
    event: &mut Event,
) -> Result<Found, Error> {
    let Tree { store, repository, .. } = tree;
    let (id, path) = (repository.id, file.path);
    let sha256 = staged.sha256().ok_or(store::Error::GivenUp)?;
    let mut there = look(tree, file, sha256, event).await?;
    if let There::Same = there {
        return Ok(Found::Kept(false));
    }
    let pom = read_pom(tree, file, &staged, event).await?;
    let hashes = staged.keep(event).await?;
    for _ in 0..TRIES {
        let at = now();
        let expect = match there {
            There::Same => return Ok(Found::Kept(false)),
            There::Nothing { .. } => Expect::KeyFreeInAnyCase { repository: id, key: path.to_owned() },
            There::Other { seq, .. } => Expect::UnitAt { repository: id, unit: paths::folder(path).to_owned(), seq },
        };
        let mut besides = match &pom {
            Some((artifact, lists)) => ListingChanges::publishing(tree, *artifact, lists, at, event).await?,
            None => ListingChanges::default(),
        };
        if let (Some(artifact), There::Nothing { first: true }) = (file.artifact, &there) {
            besides.claim(tree, artifact);
        }
        let facts = file.facts(pom.as_ref().map(|(_, lists)| lists))?;
        let (unit, key) = (paths::folder(path).to_owned(), path.to_owned());
        // Other bytes are another publication: who looks at what was before must not see them. The same are as old as they were.
        let published = match there {
            There::Other { since: Some(since), .. } => since,
            _ => at,
        };
        let (state, hashes) = (State::Live, hashes.clone());
        let entry = Entry { unit, key, state, published, changed: at, hashes, facts, line: None };
        besides.expect.extend([Expect::RepositoryLives(id), expect]);
        besides.changes.push(Change::Entry { repository: id, entry });
        let ListingChanges { expect, changes } = besides;
        let batch = Batch { by: by.name.to_owned(), at, expect, changes };
        match store.commit(batch, event).await {
            Ok(_) => {
                if pom.is_some_and(|(artifact, _)| artifact.build.is_some()) {
                    retention::after_build(tree, paths::folder(path));
                }
                return Ok(Found::Kept(!matches!(there, There::Other { live: true, .. })));
            }
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::RepositoryLives(_)) => {
                return Err(Error::NoSuchRepository(repository.record.name.clone()));
            }
            Err(CommitError::Conflict(_)) => there = look(tree, file, sha256, event).await?,
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(path.to_owned()))
}

/// What is at a path already.
enum There {
    /// Nothing; and whether the folder never held anything.
    Nothing { first: bool },
    /// These very bytes.
    Same,
    /// Something that may be replaced, in a folder whose last change was `seq`; where it was these very bytes, since when.
    Other { seq: Seq, live: bool, since: Option<Millis> },
}

/// Whether these bytes may be published as `file`.
async fn look(tree: Tree<'_>, file: File<'_>, sha256: Digest, event: &mut Event) -> Result<There, Error> {
    let Tree { store, repository, .. } = tree;
    let path = file.path;
    // Before the entry is read: what changes from here on is noticed.
    let seq = store.facts(repository.id, paths::folder(path), event).await?.seq;
    let Some(entry) = store.entry_in_any_case(repository.id, path, event).await? else {
        return Ok(There::Nothing { first: seq == Seq(0) });
    };
    if entry.key != path {
        return Err(Error::PathInOtherCase { path: path.to_owned(), there: entry.key });
    }
    let same = entry.hashes.sha256 == sha256;
    match entry.state {
        State::Live if same => Ok(There::Same),
        state if same || !file.lasting(repository) => {
            let since = same.then_some(entry.published);
            Ok(There::Other { seq, live: state == State::Live, since })
        }
        State::Live => Err(Error::PathTaken(path.to_owned())),
        State::Withdrawn => Err(Error::PathTakenByRemoved(path.to_owned())),
    }
}

/// The artifact that a file is the POM of, with what that says its folders list.
async fn read_pom<'a>(
    tree: Tree<'_>,
    file: File<'a>,
    staged: &Staged,
    event: &mut Event,
) -> Result<Option<(Artifact<'a>, PomListings)>, Error> {
    let Some(artifact) = file.pom() else { return Ok(None) };
    let bytes = staged.beginning(maven::LONGEST as u64 + 1, event).await?;
    let path = file.path.to_owned();
    let read = move |(): &mut ()| listing_changes::pom(&path).map(|artifact| PomListings::of(artifact, &bytes));
    let lists = tree.context.workers.run(Lane::Change, (Op::WorkWait, Op::PackageRead), event, read).await?;
    Ok(Some((artifact, lists.unwrap_or_default())))
}

/// The digest that was uploaded; `None`: it is none of that algorithm.
async fn said(checksum: Checksum, staged: &Staged, event: &mut Event) -> Result<Option<String>, Error> {
    Ok(checksum.read(&staged.beginning(paths::LONGEST_CHECKSUM as u64, event).await?))
}

/// Refuses a digest that is not that of the file at `path`, where that is there.
async fn compare(
    tree: Tree<'_>,
    (path, checksum): (&str, Checksum),
    said: String,
    now: Millis,
    event: &mut Event,
) -> Result<(), Error> {
    let is = match find(tree, path, tree.repository.whole(now), event).await {
        Ok(entry) => digits(&entry.hashes, checksum),
        Err(Error::NoSuchFile(_) | Error::Removed(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    match said == is {
        true => Ok(()),
        false => Err(Error::ChecksumDiffers { path: path.to_owned(), said, is }),
    }
}
