//! A file of a build: from the cache while it has the digest that the hub lists, otherwise by one call below the URL of
//! the files.

use crate::content::Grown;
use crate::content::{Content, How, Source};
use crate::error::{Error, Result};
use crate::maven::koji::answer::asked::{Asked, name_of};
use crate::maven::koji::answer::{explained, shown};
use crate::maven::koji::job::{self, Moved};
use crate::maven::koji::map::{FoundFile, Place};
use crate::maven::koji::rows;
use crate::tree::file::File;
use crate::upstream::checksum_policy::ChecksumPolicy;
use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::failure::Failure;
use crate::upstream::fetch::{answer, file_by};
use crate::upstream::past::unfiltered;
use crate::upstream::placed::PlacedFile;
use crate::upstream::proof::Proof;
use crate::upstream::trace::FetchTrace;
use crate::upstream::{KeptFile, Remembered, Remote};
use format::koji::url;
use format::tree::Checksum;
use telemetry::{Event, Op, Reason};

/// How often a file is looked for again: its build moved, another fetch of its path ended with another build's file, or
/// a file is awaited for its checksum.
const TRIES: usize = 3;

/// The file at a path that the map has.
pub(crate) async fn fetch(
    asked: &mut Asked<'_>,
    file: &File<'_>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    for _ in 0..TRIES {
        let Some((place, found)) = asked.find(file) else { return Err(asked.lacks(file, trace)) };
        tell(asked, &place, &found, trace);
        shown::check(asked, file, &place, trace)?;
        let today = unfiltered(asked.remote);
        if let Some(kept) = kept(&today, file, &found, event).await? {
            return from_cache(&today, file, kept, trace, event).await;
        }
        if place.deleted {
            return Err(Error::Unkept(file.path.to_owned()));
        }
        let placed = placed(asked.remote, file, &place, &found, event).await?;
        let is_strict = policy(asked.remote) == ChecksumPolicy::Strict;
        let proof = Proof::Placed { file: &placed, is_strict };
        match Box::pin(file_by(&today, file, proof, trace, event)).await {
            Ok(content) if is_strict && is_of_another(&content, &placed) => {}
            Ok(content) => return Ok(Content { lasting: false, ..content }),
            Err(Error::Upstream(failure)) if failure.reason == Reason::KojiFileMissing => {
                match job::moved(asked.remote, place.build, event).await {
                    Ok(Moved::To(known) | Moved::Deleted(known)) => asked.known = known,
                    Ok(Moved::Same) | Err(_) => return Err(failure.into()),
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(never_came().into())
}

/// The checksum of a file that the map has, from its bytes; where the hub's own digest is of that algorithm, and the
/// bytes must have it, from the map. `path` is that of the checksum.
pub(crate) async fn checksum(
    asked: &mut Asked<'_>,
    path: &File<'_>,
    of: &File<'_>,
    checksum: Checksum,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    let Some((place, found)) = asked.find(of) else { return Err(asked.lacks(path, trace)) };
    shown::check(asked, of, &place, trace)?;
    let today = unfiltered(asked.remote);
    let is_kept = kept(&today, of, &found, event).await?.is_some();
    let is_strict = policy(asked.remote) == ChecksumPolicy::Strict;
    if !is_kept && is_strict && !place.deleted && found.digest.algorithm() == checksum {
        tell(asked, &place, &found, trace);
        let (_, digest) = digest_of(asked.remote, of, &found, event).await?;
        return Ok(Content::text(digest, "text/plain"));
    }
    for _ in 0..TRIES {
        let content = fetch(asked, of, trace, event).await?;
        if let Some(sum) = content.sum(checksum, asked.remote.late_digests(), event).await? {
            return Ok(sum);
        }
        let Source::Growing(growing) = &content.source else { break };
        let mut grown = growing.grown.clone();
        let end = grown.wait_for(|grown| !matches!(grown, Grown::Going(_)));
        // If it breaks off, the next attempt tells why.
        drop(event.waited(Op::FlightWait, end).await);
    }
    Err(never_came().into())
}

/// The failure where each attempt ended without the file that the map has by then.
fn never_came() -> Failure {
    Failure::new(Reason::UpstreamCut, format!("the file did not come from its build in {TRIES} attempts"))
}

/// The cached bytes if they are those of the map.
pub(crate) async fn kept(
    today: &Remote,
    file: &File<'_>,
    found: &FoundFile,
    event: &mut Event,
) -> Result<Option<KeptFile>> {
    Ok(match today.recall(file, event).await? {
        Some(Remembered::File(kept)) if found.may_be(&kept.known.hashes) => Some(kept),
        _ => None,
    })
}

async fn from_cache(
    today: &Remote,
    file: &File<'_>,
    kept: KeptFile,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    today.remotes.store.cached_counts().hit();
    let content = answer(today, file, kept, How::Kept, None, trace, event).await?;
    // Another build may have the folder later.
    Ok(Content { lasting: false, ..content })
}

/// The place of a file below the URL of the files, with what its bytes have to be.
async fn placed(
    remote: &Remote,
    file: &File<'_>,
    place: &Place,
    found: &FoundFile,
    event: &mut Event,
) -> Result<PlacedFile> {
    let path = url::path(&place.nvr, &place.volume, file.folder, name_of(file));
    let path = path.ok_or_else(|| Error::NoSuchFile(file.path.to_owned()))?;
    let (checksum, digest) = digest_of(remote, file, found, event).await?;
    Ok(PlacedFile { path, size_bytes: found.size_bytes, digests: DeclaredDigests::said(checksum, digest) })
}

/// The hub's digest of a file, hexadecimal.
async fn digest_of(
    remote: &Remote,
    file: &File<'_>,
    found: &FoundFile,
    event: &mut Event,
) -> Result<(Checksum, String)> {
    let whole = rows::whole(remote, found, file.folder, name_of(file), event).await?;
    Ok((found.digest.algorithm(), whole.digest.hex()))
}

/// Whether a request followed a fetch that had begun for the file of another build.
fn is_of_another(content: &Content, placed: &PlacedFile) -> bool {
    match (&content.hashes, &content.source) {
        (Some(hashes), _) => placed.check(hashes).is_err(),
        (None, Source::Growing(growing)) => *growing.promised != *placed.digests.promised(),
        (None, _) => true,
    }
}

fn policy(remote: &Remote) -> ChecksumPolicy {
    ChecksumPolicy::of(remote.repository.record.remote.as_deref())
}

/// Tells an explanation which build has the file. Events of requests have no room for it.
fn tell(asked: &Asked<'_>, place: &Place, found: &FoundFile, trace: &mut FetchTrace) {
    if !asked.remote.repository.asks {
        trace.told = Some(explained::place(asked, place, found));
    }
}
