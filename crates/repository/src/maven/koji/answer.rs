//! Answers requests from the map.

use crate::content::Content;
use crate::error::{Error, Result};
use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::trace::FetchTrace;
use telemetry::Event;

/// The file, or its checksum, or a generated document; as of now or of the moment of the repository.
pub(crate) async fn fetch(
    remote: &Remote,
    file: &File<'_>,
    _trace: &mut FetchTrace,
    _event: &mut Event,
) -> Result<Content> {
    let _known = remote.repository.shared.koji().known(remote.repository.origin);
    Err(Error::NoSuchFile(file.path.to_owned()))
}
