//! Publishes a file. The bytes are synced first, so that no row ever points at bytes that are not on disk; the
//! acknowledgement comes last.

use crate::actor::Actor;
use crate::content::digits;
use crate::error::Error;
use crate::error::purged::Purged;
use crate::maven::listing_changes::ListingChanges;
use crate::origin::{OriginClaim, differs};
use crate::tree::TRIES;
use crate::tree::Tree;
use crate::tree::fetch::find;
use crate::tree::file::{File, Provenance};
use format::tree::{self as paths, Checksum};
use serde_json::Value;
use store::{Batch, Change, CommitError, Digest, Entry, EntryOrigin, Expect, KeptBlob, Seq, Staged, State, Withdrawal};
use telemetry::{Event, Millis};

/// The part of a checksum file that is searched for the digest, in bytes.
const KEPT_CHECKSUM_MAX: u64 = 64 << 10;

/// Takes the upload as the file.
///
/// A checksum is compared and not stored, because it is computed on request. Metadata is generated from the published
/// files and not stored either: clients read it, add to it and write it back, so concurrent deploys would lose each
/// other's additions.
pub(crate) async fn deploy(
    tree: Tree<'_>,
    file: &File<'_>,
    staged: Staged,
    claimed: Option<&OriginClaim>,
    by: Actor<'_>,
    now: impl Fn() -> Millis,
    event: &mut Event,
) -> Result<bool, Error> {
    let origin = claimed.map(|claimed| claimed.accept(by, now())).transpose()?;
    match file.provenance() {
        None => Err(Error::NotInLayout(file.path.to_owned())),
        Some(Provenance::Generated) if file.is_metadata() => {
            file.take_metadata(tree, &staged, by, now, event).await?;
            Ok(true)
        }
        Some(Provenance::Generated) => Err(Error::MadeHere(file.path.to_owned())),
        Some(Provenance::ChecksumOf(of, checksum)) => {
            let digest = uploaded_digest(checksum, &staged, event).await?;
            let digest = digest.ok_or_else(|| Error::ChecksumUnreadable { path: file.path.to_owned(), checksum })?;
            compare(tree, &of, checksum, digest, now(), event).await?;
            Ok(true)
        }
        Some(Provenance::Uploaded) => {
            if let Some((of, checksum)) = file.kept_checksum() {
                compare_kept(tree, file, &of, checksum, &staged, now(), event).await?;
            }
            publish(tree, file, staged, origin, by, now, event).await
        }
    }
}

/// Publishes a file. A release is immutable: the same bytes succeed again, and set the origin if another one is
/// claimed.
async fn publish(
    tree: Tree<'_>,
    file: &File<'_>,
    staged: Staged,
    origin: Option<EntryOrigin>,
    by: Actor<'_>,
    now: impl Fn() -> Millis,
    event: &mut Event,
) -> Result<bool, Error> {
    let Tree { store, repository, .. } = tree;
    let (id, path, folder) = (repository.id, file.path, file.folder);
    let sha256 = staged.sha256().ok_or(store::Error::GivenUp)?;
    let mut there = look(tree, file, sha256, origin.as_ref(), event).await?;
    if let There::Same = there {
        return Ok(false);
    }
    let publication = file.publication(tree, &staged, event).await?;
    let KeptBlob { hashes, hold } = staged.keep(event).await?;
    for _ in 0..TRIES {
        let at = now();
        let expect = match there {
            There::Same => return Ok(false),
            There::Nothing { .. } => Expect::KeyFreeInAnyCase { repository: id, key: path.to_owned() },
            There::Other { seq, .. } => Expect::UnitAt { repository: id, unit: folder.to_owned(), seq },
        };
        let first = matches!(there, There::Nothing { first: true });
        let mut listing = match &publication {
            Some(publication) => publication.changes(tree, first, origin.as_ref(), at, event).await?,
            None => ListingChanges::default(),
        };
        let facts = publication.as_ref().map_or(Ok(Value::Null), |publication| publication.facts(path))?;
        let (unit, key) = (folder.to_owned(), path.to_owned());
        // Other bytes are a new publication, and as-of views before it must not show them. The same bytes keep their
        // date.
        let (published, known) = match &there {
            There::Other { same: Some(same), .. } => (same.published, same.origin.clone()),
            _ => (at, None),
        };
        let its_origin = origin.clone().map(Box::new).or(known);
        let (state, hashes) = (State::Live, hashes.clone());
        let entry = Entry {
            unit,
            key,
            state,
            published,
            changed: at,
            hashes,
            facts,
            line: None,
            origin: its_origin,
            withdrawal: None,
        };
        listing.expect.extend([Expect::RepositoryLives(id), expect]);
        listing.changes.push(Change::Entry { repository: id, entry });
        let ListingChanges { expect, changes } = listing;
        let batch = Batch { holds: vec![hold.clone()], ..by.batch(at, expect, changes) };
        match store.commit(batch, event).await {
            Ok(_) => {
                if let Some(publication) = &publication {
                    publication.published(tree, folder);
                }
                return Ok(!matches!(there, There::Other { live: true, .. }));
            }
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::RepositoryLives(_)) => {
                return Err(Error::NoSuchRepository(repository.record.name.clone()));
            }
            Err(CommitError::Conflict(_)) => there = look(tree, file, sha256, origin.as_ref(), event).await?,
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(path.to_owned()))
}

/// The present state of a path.
enum There {
    /// Empty. `first`: the folder never had a file.
    Nothing { first: bool },
    /// The same bytes.
    Same,
    /// A file that may be replaced, in a folder whose last change was `seq`. `same` is the entry if it has the same
    /// bytes.
    Other { seq: Seq, live: bool, same: Option<Box<Entry>> },
}

/// Checks whether these bytes may be published as `file`.
async fn look(
    tree: Tree<'_>,
    file: &File<'_>,
    sha256: Digest,
    origin: Option<&EntryOrigin>,
    event: &mut Event,
) -> Result<There, Error> {
    let Tree { store, repository, .. } = tree;
    let path = file.path;
    // Taken before the entry is read, so that every later change is noticed.
    let seq = store.facts(repository.id, file.folder, event).await?.seq;
    let Some(entry) = store.entry_in_any_case(repository.id, path, event).await? else {
        return Ok(There::Nothing { first: seq == Seq(0) });
    };
    if entry.key != path {
        return Err(Error::PathInOtherCase { path: path.to_owned(), there: entry.key });
    }
    if let Some(Withdrawal::Purged { why }) = &entry.withdrawal {
        return Err(Purged::Taken { what: entry.key.clone(), why: why.clone() }.into());
    }
    let same = entry.hashes.sha256 == sha256;
    match entry.state {
        State::Live if same && !differs(origin, entry.origin.as_deref()) => Ok(There::Same),
        state if same || !file.is_immutable_in(repository) => {
            Ok(There::Other { seq, live: state == State::Live, same: same.then(|| Box::new(entry)) })
        }
        State::Live => Err(Error::PathTaken(path.to_owned())),
        State::Withdrawn => Err(Error::PathTakenByRemoved(path.to_owned())),
    }
}

/// The uploaded digest; `None`: the body is not a digest of this algorithm.
async fn uploaded_digest(checksum: Checksum, staged: &Staged, event: &mut Event) -> Result<Option<String>, Error> {
    Ok(checksum.read(&staged.beginning(paths::LONGEST_CHECKSUM as u64, event).await?))
}

/// Refuses a checksum that is stored as a file and is not that of an existing file. Tools write digests in more forms than are read
/// here, such as in groups of digits (`gpg --print-md`) or in a list of several files.
async fn compare_kept(
    tree: Tree<'_>,
    file: &File<'_>,
    of: &File<'_>,
    checksum: Checksum,
    staged: &Staged,
    now: Millis,
    event: &mut Event,
) -> Result<(), Error> {
    if let Some(digest) = uploaded_digest(checksum, staged, event).await? {
        return compare(tree, of, checksum, digest, now, event).await;
    }
    let Some(is) = stored_digest(tree, of, checksum, now, event).await? else { return Ok(()) };
    let body = staged.beginning(KEPT_CHECKSUM_MAX, event).await?;
    let digits: String = String::from_utf8_lossy(&body).chars().filter(char::is_ascii_alphanumeric).collect();
    match digits.to_ascii_lowercase().contains(&is) {
        true => Ok(()),
        false => Err(Error::ChecksumUnreadable { path: file.path.to_owned(), checksum }),
    }
}

/// Refuses a digest that differs from that of the file, if the file exists.
async fn compare(
    tree: Tree<'_>,
    file: &File<'_>,
    checksum: Checksum,
    said: String,
    now: Millis,
    event: &mut Event,
) -> Result<(), Error> {
    match stored_digest(tree, file, checksum, now, event).await? {
        Some(is) if said != is => Err(Error::ChecksumDiffers { path: file.path.to_owned(), said, is }),
        _ => Ok(()),
    }
}

/// The digest of a file; `None`: there is no such file.
async fn stored_digest(
    tree: Tree<'_>,
    file: &File<'_>,
    checksum: Checksum,
    now: Millis,
    event: &mut Event,
) -> Result<Option<String>, Error> {
    match find(tree, file.path, tree.repository.whole(now), event).await {
        Ok(entry) => Ok(Some(digits(&entry.hashes, checksum))),
        Err(Error::NoSuchFile(_) | Error::Removed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
