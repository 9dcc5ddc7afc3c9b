//! Answers requests from the map: files with one call for each, all else without any.
//!
//! In reading order: [`asked`] is the map as a request sees it, and [`shown`] what the policy shows of it; [`file`] has
//! files and their checksums, [`metadata`] the lists of versions, [`plugin_prefixes`] the plugins of a group; [`lists`]
//! has folders and artifacts for people; [`as_of`] reads a moment of Koji; [`explained`] says why.

pub(crate) mod as_of;
pub(crate) mod asked;
pub(crate) mod explained;
pub(crate) mod file;
pub(crate) mod lists;
pub(crate) mod metadata;
pub(crate) mod plugin_prefixes;
pub(crate) mod shown;
#[cfg(test)]
pub(crate) mod tests;

use crate::content::Content;
use crate::error::{Error, Result};
use crate::maven::koji::answer::asked::Asked;
use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::trace::FetchTrace;
use format::tree;
use telemetry::Event;

/// The file, or its checksum, or a generated document; as of now or of the moment of the repository.
pub(crate) async fn fetch(
    remote: &Remote,
    file: &File<'_>,
    trace: &mut FetchTrace,
    event: &mut Event,
) -> Result<Content> {
    let (of, checksum) = match file.checksum() {
        Some((of, checksum)) => (of, Some(checksum)),
        None => (*file, None),
    };
    if of.is_metadata() {
        let asked = Asked::ready(remote, event).await?.counted();
        let document = Box::pin(metadata::document(&asked, &of, trace, event)).await?;
        let Some(checksum) = checksum else { return Ok(document) };
        let sum = document.sum(checksum, remote.late_digests(), event).await?;
        return sum.ok_or_else(|| Error::NoSuchFile(file.path.to_owned()));
    }
    let mut asked = Asked::with(remote, file.folder, event).await?.counted();
    match checksum {
        Some(checksum) => file::checksum(&mut asked, file, &of, checksum, trace, event).await,
        None if asked.has(file) => file::fetch(&mut asked, file, trace, event).await,
        // Outside of the layout the ending alone names a checksum.
        None => match tree::checksum_of(file.path) {
            Some((of, checksum)) => file::checksum(&mut asked, file, &file.at(of), checksum, trace, event).await,
            None => Err(asked.lacks(file, trace)),
        },
    }
}
