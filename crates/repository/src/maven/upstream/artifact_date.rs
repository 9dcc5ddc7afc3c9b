//! The age of a version whose files have no date: the list of its artifact may have it, and is read before the version
//! is refused. Builds that pin their versions request no list themselves, and many mirrors send no `Last-Modified`.

use crate::error::{Error, Result};
use crate::maven::layout::MavenPath;
use crate::maven::upstream::{filtered_metadata, observed};
use crate::upstream::fetch::file;
use crate::upstream::first_seen::age_key::VersionPath;
use crate::upstream::first_seen::record;
use crate::upstream::trace::FetchTrace;
use crate::upstream::{PATIENCE, Remote, refused};
use format::maven::path::{METADATA, is_snapshot};
use telemetry::Event;
use tokio::time::timeout;

impl MavenPath<'_> {
    /// Reads the metadata of the artifact that a file belongs to, and records its dates. Returns whether the metadata
    /// exists. It is cached like any other, and so is a negative answer, so all files of all versions cost the upstream one
    /// request.
    pub(crate) async fn look_for_date(&self, remote: &Remote, event: &mut Event) -> Result<bool> {
        // The name of a snapshot's build contains its date.
        let listed = self.version_path().filter(|of| of.version.is_some() && !is_snapshot(of.folder));
        let Some(VersionPath { folder, .. }) = listed else { return Ok(false) };
        let path = format!("{folder}/{METADATA}");
        let metadata = remote.repository.file(&path);
        if refused::never_asked(&remote.repository, &metadata).is_some() {
            return Ok(false);
        }
        let mut trace = FetchTrace::default();
        // The file is refused if this takes long, or if the metadata cannot be fetched.
        let found = timeout(PATIENCE, file(remote, &metadata, &mut trace, event)).await;
        let content = match found {
            Ok(Ok(content)) => content,
            // The answer depends on a call that an explanation does not make.
            Ok(Err(Error::Unasked)) => return Err(Error::Unasked),
            Ok(Err(_)) | Err(_) => return Ok(false),
        };
        if remote.repository.asks {
            let document = filtered_metadata::read(remote, &content, event).await?;
            record::sights(remote, observed::of_document(folder, &document, content.modified), event).await?;
        }
        Ok(true)
    }
}
