//! A file of an upstream as of a moment, in formats that date files by their bytes. It is answered only if the cached bytes are those
//! of that moment.

use crate::as_of::Past;
use crate::content::{Content, How};
use crate::error::{Error, Result};
use crate::tree::file::File;
use crate::upstream::fetch::{answer, present};
use crate::upstream::first_seen::store::{Bytes, FirstSeenStore};
use crate::upstream::past;
use crate::upstream::trace::FetchTrace;
use crate::upstream::ttl::Ttl;
use crate::upstream::{Remembered, Remote};
use telemetry::Event;

/// The file as of the moment.
pub(crate) async fn file(
    remote: &Remote,
    then: Past,
    file: &File<'_>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    let then = FirstSeenStore::of(remote).through(then.through);
    let Some(Bytes { met, sha256 }) = then.bytes(file.path, event).await? else {
        return Err(past::early(remote, then, file.path, event).await?);
    };
    let today = past::today(remote, file, file.named(met.age()), met, trace)?;
    match today.recall(file, event).await? {
        Some(Remembered::File(kept)) if kept.known.hashes.sha256 == sha256 => {
            answer(&today, file, kept, How::Kept, None, trace, event).await
        }
        _ if Ttl::of(&today.repository, file).lasting() => present(&today, file, trace, event).await,
        _ => Err(Error::Unkept(file.path.to_owned())),
    }
}
