//! Publishes a file. The bytes are synced first, so that no row ever points at bytes that are not on disk; the
//! acknowledgement comes last.

use crate::actor::Actor;
use crate::content::digits;
use crate::error::purged::Purged;
use crate::error::refused_upload::RefusedUpload;
use crate::error::{Error, Result};
use crate::origin::{OriginClaim, differs};
use crate::repository::Repository;
use crate::tree::TRIES;
use crate::tree::Tree;
use crate::tree::early_checksum::{self, EarlyChecksums, KEPT_CHECKSUM_MAX};
use crate::tree::facts::Provenance;
use crate::tree::fetch::{find, modified};
use crate::tree::file::File;
use crate::tree::further_changes::FurtherChanges;
use crate::write_conditions::{Present, WriteConditions};
use format::tree::{self as paths, Checksum};
use store::{Batch, Change, CommitError, Entry, EntryOrigin, Expect, Hashes, KeptBlob, Seq, Staged, State, Withdrawal};
use telemetry::{Event, Millis};

/// An upload, with what its headers say of it.
#[derive(Debug)]
pub(crate) struct Deployment<'a> {
    pub(crate) staged: Staged,
    /// The original publication that it claims.
    pub(crate) claimed: Option<&'a OriginClaim>,
    pub(crate) conditions: Option<&'a WriteConditions>,
}

/// What became of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deployed {
    /// Whether nothing was there before.
    pub(crate) new: bool,
    /// When the bytes were published here.
    pub(crate) published: Millis,
    /// The date that the age of a new file counts from; `None`: no file was published.
    pub(crate) since: Option<Millis>,
}

/// Takes the upload as the file.
///
/// A checksum is compared and not stored, because it is computed on request. Metadata is generated from the published
/// files and not stored either: clients read it, add to it and write it back, so concurrent deploys would lose each
/// other's additions.
pub(crate) async fn deploy(
    tree: Tree<'_>,
    file: &File<'_>,
    upload: Deployment<'_>,
    by: Actor<'_>,
    now: impl Fn() -> Millis,
    event: &mut Event,
) -> Result<Deployed> {
    let origin = upload.claimed.map(|claimed| claimed.accept(by, now())).transpose()?;
    match file.provenance() {
        None => Err(Error::NotInLayout(file.path.to_owned())),
        Some(Provenance::Generated | Provenance::ChecksumOf(..)) if upload.conditions.is_some() => {
            Err(RefusedUpload::Unconditional(file.path.to_owned()).into())
        }
        Some(Provenance::Generated) if file.is_metadata() => {
            file.take_metadata(tree, &upload.staged, by, &now, event).await?;
            Ok(Deployed { new: true, published: now(), since: None })
        }
        Some(Provenance::Generated) => Err(Error::MadeHere(file.path.to_owned())),
        Some(Provenance::ChecksumOf(of, checksum)) => {
            let of = file.at(of);
            let digest = uploaded_digest(checksum, &upload.staged, event).await?;
            let unreadable = || RefusedUpload::ChecksumUnreadable { path: file.path.to_owned(), checksum };
            take_checksum(tree, (&of, checksum, &digest.ok_or_else(unreadable)?), by, &now, event).await?;
            Ok(Deployed { new: true, published: now(), since: None })
        }
        Some(Provenance::Uploaded) => publish(tree, file, upload, origin, by, now, event).await,
    }
}

/// Compares an uploaded checksum with its file. If the file is not there yet, its upload is held against the checksum. Generated documents
/// change while clients compute checksums of theirs, so these are not compared.
async fn take_checksum(
    tree: Tree<'_>,
    (of, checksum, digest): (&File<'_>, Checksum, &str),
    by: Actor<'_>,
    now: &impl Fn() -> Millis,
    event: &mut Event,
) -> Result<()> {
    if of.provenance() != Some(Provenance::Uploaded) {
        return Ok(());
    }
    match early_checksum::record(tree, (of, checksum, digest), (by, now), event).await? {
        true => Ok(()),
        false => compare(tree, of, checksum, digest, now(), event).await,
    }
}

/// Publishes a file. A release is immutable: the same bytes succeed again, and set the origin if another one is
/// claimed.
async fn publish(
    tree: Tree<'_>,
    file: &File<'_>,
    Deployment { staged, conditions, .. }: Deployment<'_>,
    origin: Option<EntryOrigin>,
    by: Actor<'_>,
    now: impl Fn() -> Millis,
    event: &mut Event,
) -> Result<Deployed> {
    let Tree { store, repository, .. } = tree;
    let (id, path, folder) = (repository.id, file.path, file.folder);
    let arrived = staged.hashes()?;
    let kept = match file.kept_checksum() {
        Some((of, checksum)) => Some((of, checksum, staged.beginning(KEPT_CHECKSUM_MAX, event).await?)),
        None => None,
    };
    let wanted = Wanted { hashes: &arrived, origin: origin.as_ref(), conditions, kept: kept.as_ref() };
    let (mut there, mut early) = look(tree, file, wanted, event).await?;
    if let There::Same(published) = there {
        store.bring_back(staged, event).await?;
        return Ok(Deployed { new: false, published, since: None });
    }
    let facts = file.upload_facts(tree, &staged, event).await?;
    let KeptBlob { hashes, hold } = store.keep(staged, event).await?;
    for _ in 0..TRIES {
        let at = now();
        let expect = match there {
            There::Same(published) => return Ok(Deployed { new: false, published, since: None }),
            There::Nothing { .. } => Expect::KeyFreeInAnyCase { repository: id, key: path.to_owned() },
            There::Other { seq, .. } => Expect::UnitAt { repository: id, unit: folder.to_owned(), seq },
        };
        let first = matches!(there, There::Nothing { first: true });
        let mut listing = file.publishing(tree, (&facts, first), origin.as_ref(), at, event).await?;
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
            facts: facts.clone(),
            line: None,
            origin: its_origin,
            withdrawal: None,
        };
        let since = Some(entry.first_published());
        listing.expect.extend([Expect::RepositoryLives(id), expect].into_iter().chain(early.expect));
        listing.changes.extend([Change::Entry { repository: id, entry }].into_iter().chain(early.changes));
        let FurtherChanges { expect, changes } = listing;
        let batch = Batch { holds: vec![hold.clone()], ..by.batch(at, expect, changes) };
        match store.commit(batch, event).await {
            Ok(_) => {
                file.published(tree);
                return Ok(Deployed { new: !matches!(there, There::Other { live: true, .. }), published, since });
            }
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::RepositoryLives(_)) => {
                return Err(Error::NoSuchRepository(repository.record.name.clone()));
            }
            Err(CommitError::Conflict(_)) => (there, early) = look(tree, file, wanted, event).await?,
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(path.to_owned()))
}

/// The present state of a path.
enum There {
    /// Empty. `first`: the folder never had a file.
    Nothing { first: bool },
    /// The same bytes, published at this moment.
    Same(Millis),
    /// A file that may be replaced, in a folder whose last change was `seq`. `same` is the entry if it has the same
    /// bytes.
    Other { seq: Seq, live: bool, same: Option<Box<Entry>> },
}

/// The upload, as the state of its path is judged by it.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    hashes: &'a Hashes,
    origin: Option<&'a EntryOrigin>,
    conditions: Option<&'a WriteConditions>,
    /// The file whose checksum it is, and the bytes of the checksum file, where checksums are stored.
    kept: Option<&'a (File<'a>, Checksum, Vec<u8>)>,
}

impl Wanted<'_> {
    /// Refuses the upload if a condition does not hold for the file at the path.
    fn check(&self, file: &File<'_>, repository: &Repository, there: Option<&Entry>) -> Result<()> {
        let Some(conditions) = self.conditions else { return Ok(()) };
        let present = there.and_then(|entry| present(entry, file.is_immutable_in(repository)));
        Ok(conditions.check(file.path, present.as_ref())?)
    }
}

/// The file of an entry, as conditions see it; `None`: it was withdrawn. `lasting`: its bytes never change.
pub(super) fn present(entry: &Entry, lasting: bool) -> Option<Present> {
    let present = || Present { tag: entry.hashes.sha1.clone(), modified: Some(modified(entry, lasting)) };
    (entry.state == State::Live).then(present)
}

/// Checks whether these bytes may be published as `file`.
async fn look(
    tree: Tree<'_>,
    file: &File<'_>,
    wanted: Wanted<'_>,
    event: &mut Event,
) -> Result<(There, EarlyChecksums)> {
    let absent = match wanted.kept {
        Some(kept) => compare_kept(tree, file, kept, event).await?,
        None => None,
    };
    let there = look_there(tree, file, wanted, event).await?;
    let mut early = EarlyChecksums::default();
    if !matches!(there, There::Same(_) | There::Other { live: true, .. }) {
        early = EarlyChecksums::of(tree, file, event).await?;
        early.check(file.path, wanted.hashes)?;
    }
    early.expect.extend(absent);
    Ok((there, early))
}

async fn look_there(tree: Tree<'_>, file: &File<'_>, wanted: Wanted<'_>, event: &mut Event) -> Result<There> {
    let Tree { store, repository, .. } = tree;
    let path = file.path;
    // Taken before the entry is read, so that every later change is noticed.
    let seq = store.facts(repository.id, file.folder, event).await?.seq;
    let Some(entry) = store.entry_in_any_case(repository.id, path, event).await? else {
        wanted.check(file, repository, None)?;
        return Ok(There::Nothing { first: seq == Seq(0) });
    };
    wanted.check(file, repository, Some(&entry).filter(|entry| entry.key == path))?;
    if entry.key != path {
        return Err(Error::PathInOtherCase { path: path.to_owned(), there: entry.key });
    }
    if let Some(Withdrawal::Purged { why }) = &entry.withdrawal {
        return Err(Purged::Taken { what: entry.key.clone(), why: why.clone() }.into());
    }
    let same = entry.hashes.sha256 == wanted.hashes.sha256;
    match entry.state {
        State::Live if same && !differs(wanted.origin, entry.origin.as_deref()) => Ok(There::Same(entry.published)),
        state if same || !file.is_immutable_in(repository) => {
            Ok(There::Other { seq, live: state == State::Live, same: same.then(|| Box::new(entry)) })
        }
        State::Live => Err(Error::PathTaken(path.to_owned())),
        State::Withdrawn => Err(Error::PathTakenByRemoved(path.to_owned())),
    }
}

/// The uploaded digest; `None`: the body is not a digest of this algorithm.
async fn uploaded_digest(checksum: Checksum, staged: &Staged, event: &mut Event) -> Result<Option<String>> {
    Ok(checksum.read(&staged.beginning(paths::LONGEST_CHECKSUM as u64, event).await?))
}

/// Refuses a checksum that is stored as a file and is not that of an existing file. Returns the condition that there is none. Tools write
/// digests in more forms than are read here, such as in groups of digits (`gpg --print-md`) or in a list of several files.
async fn compare_kept(
    tree: Tree<'_>,
    file: &File<'_>,
    (of, checksum, body): &(File<'_>, Checksum, Vec<u8>),
    event: &mut Event,
) -> Result<Option<Expect>> {
    let (repository, key) = (tree.repository.id, of.path.to_owned());
    let Some(entry) = tree.store.entry(repository, of.path, event).await? else {
        return Ok(Some(Expect::KeyFree { repository, key }));
    };
    if entry.state != State::Live {
        return Ok(None);
    }
    let is = digits(&entry.hashes, *checksum).unwrap_or_default();
    if let Some(said) = checksum.read(body) {
        return if said == is { Ok(None) } else { Err(RefusedUpload::ChecksumDiffers { path: key, said, is }.into()) };
    }
    let written: String = String::from_utf8_lossy(body).chars().filter(char::is_ascii_alphanumeric).collect();
    match written.to_ascii_lowercase().contains(&is) {
        true => Ok(None),
        false => Err(RefusedUpload::ChecksumUnreadable { path: file.path.to_owned(), checksum: *checksum }.into()),
    }
}

/// Refuses a digest that differs from that of the file, if the file exists.
async fn compare(
    tree: Tree<'_>,
    file: &File<'_>,
    checksum: Checksum,
    said: &str,
    now: Millis,
    event: &mut Event,
) -> Result<()> {
    let is = match find(tree, file.path, tree.repository.whole(now), event).await {
        Ok(entry) => digits(&entry.hashes, checksum).unwrap_or_default(),
        Err(Error::NoSuchFile(_) | Error::Removed(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    let (path, said) = (file.path.to_owned(), said.to_owned());
    if said == is { Ok(()) } else { Err(RefusedUpload::ChecksumDiffers { path, said, is }.into()) }
}
