//! Publishing a file: bytes first, so that no row ever points at bytes that are not on disk; the acknowledgement last.

use super::TRIES;
use super::fetch::{digits, find};
use super::listing::{self, Besides};
use super::place::{self, File, Place};
use crate::hosted::Hosted;
use crate::{Actor, Error, Format, Found};
use format::tree::{self, Checksum};
use store::{Batch, Change, CommitError, Digest, Entry, Expect, Hashes, Seq, Staged, State};
use telemetry::{Event, Millis};

/// Takes what was uploaded as the file at `path`.
///
/// A checksum is compared and not kept: it is computed for whoever asks. Metadata is made here from what was published, as
/// deployers who read it, add to it and write it back lose what others added meanwhile; theirs is taken and not kept either.
pub(crate) async fn deploy(
    hosted: Hosted<'_>,
    path: &str,
    staged: Staged,
    (by, now): (Actor<'_>, impl Fn() -> Millis),
    event: &mut Event,
) -> Result<Found, Error> {
    match place::read(hosted.repository.format, path) {
        None => Err(Error::NotInLayout(path.to_owned())),
        Some(Place::Made(_)) => Ok(Found::Kept(true)),
        Some(Place::Checksum(file, checksum)) => {
            compare(hosted, (file, checksum), &staged, now(), event).await?;
            Ok(Found::Kept(true))
        }
        Some(Place::File(file)) => {
            if let Some(beside) = tree::checksum_of(path) {
                compare(hosted, beside, &staged, now(), event).await?;
            }
            publish(hosted, file, staged, (by, now), event).await
        }
    }
}

/// Publishes a file. What lasts is immutable: identical bytes again succeed.
async fn publish(
    hosted: Hosted<'_>,
    file: File<'_>,
    staged: Staged,
    (by, now): (Actor<'_>, impl Fn() -> Millis),
    event: &mut Event,
) -> Result<Found, Error> {
    let Hosted { store, repository, .. } = hosted;
    let (id, path) = (repository.id, file.path);
    let sha256 = staged.sha256().ok_or(store::Error::GivenUp)?;
    let mut there = look(hosted, file, sha256, event).await?;
    if let There::Same = there {
        return Ok(Found::Kept(false));
    }
    let hashes = staged.keep(event).await.map_err(Error::Unsaved)?;
    for _ in 0..TRIES {
        let at = now();
        let expect = match there {
            There::Same => return Ok(Found::Kept(false)),
            There::Nothing => Expect::KeyFreeInAnyCase { repository: id, key: path.to_owned() },
            There::Other { seq, .. } => Expect::UnitAt { repository: id, unit: tree::folder(path).to_owned(), seq },
        };
        let mut besides = match listing::pom(path) {
            Some(artifact) if repository.format == Format::Maven => {
                listing::set(hosted, artifact, State::Live, at, event).await?
            }
            _ => Besides::default(),
        };
        besides.expect.extend([Expect::RepositoryLives(id), expect]);
        besides.changes.push(Change::Entry { repository: id, entry: entry(file, &hashes, at) });
        let Besides { expect, changes } = besides;
        let batch = Batch { by: by.name.to_owned(), at, expect, changes };
        match store.commit(batch, event).await {
            Ok(_) => return Ok(Found::Kept(!matches!(there, There::Other { live: true, .. }))),
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::RepositoryLives(_)) => {
                return Err(Error::NoSuchRepository(repository.record.name.clone()));
            }
            Err(CommitError::Conflict(_)) => there = look(hosted, file, sha256, event).await?,
            Err(CommitError::Error(error)) => return Err(Error::Unsaved(error)),
        }
    }
    Err(Error::Contended(path.to_owned()))
}

/// What is at a path already.
enum There {
    Nothing,
    /// These very bytes.
    Same,
    /// Something that may be replaced, in a folder whose last change was `seq`.
    Other {
        seq: Seq,
        live: bool,
    },
}

/// Whether these bytes may be published as `file`.
async fn look(hosted: Hosted<'_>, file: File<'_>, sha256: Digest, event: &mut Event) -> Result<There, Error> {
    let Hosted { store, repository, .. } = hosted;
    let path = file.path;
    // Before the entry is read: what changes from here on is noticed.
    let seq = store.facts(repository.id, tree::folder(path), event).await?.seq;
    let Some(entry) = store.entry_in_any_case(repository.id, path, event).await? else { return Ok(There::Nothing) };
    if entry.key != path {
        return Err(Error::PathInOtherCase { path: path.to_owned(), there: entry.key });
    }
    let same = entry.hashes.sha256 == sha256;
    match entry.state {
        State::Live if same => Ok(There::Same),
        state if same || !file.lasting() => Ok(There::Other { seq, live: state == State::Live }),
        State::Live => Err(Error::PathTaken(path.to_owned())),
        State::Withdrawn => Err(Error::PathTakenByRemoved(path.to_owned())),
    }
}

/// The entry as it will be. Other bytes are another publication: who looks at what was before must not see them.
fn entry(file: File<'_>, hashes: &Hashes, at: Millis) -> Entry {
    Entry {
        unit: tree::folder(file.path).to_owned(),
        key: file.path.to_owned(),
        state: State::Live,
        published: at,
        changed: at,
        hashes: hashes.clone(),
        facts: file.facts(),
        line: None,
    }
}

/// Refuses what says that it is the checksum of a file that is there, and is not.
async fn compare(
    hosted: Hosted<'_>,
    (path, checksum): (&str, Checksum),
    staged: &Staged,
    now: Millis,
    event: &mut Event,
) -> Result<(), Error> {
    let Some(said) = checksum.read(&staged.beginning(tree::LONGEST_CHECKSUM as u64, event).await?) else {
        return Ok(());
    };
    let is = match find(hosted, path, now, event).await {
        Ok(entry) => digits(&entry.hashes, checksum),
        Err(Error::NoSuchFile(_) | Error::Removed(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    match said == is {
        true => Ok(()),
        false => Err(Error::ChecksumDiffers { path: path.to_owned(), said, is }),
    }
}
