//! A file of a remote tree, as its format has it answered: as it is now, or as of a moment, and without what policy hides.
//!
//! What the formats have in common is in `upstream/`, which knows none of them.

use crate::as_of::Past;
use crate::content::Content;
use crate::error::Error;
use crate::maven::upstream as maven;
use crate::raw;
use crate::tree::file::{File, Layout};
use crate::upstream::fetch::present;
use crate::upstream::trace::FetchTrace;
use crate::upstream::{Remote, refused};
use std::pin::Pin;
use telemetry::{Event, Layer, Millis, Tick};

/// The file, or what is known of its bytes where it is a checksum.
pub(crate) async fn fetch(remote: &Remote, file: &File<'_>, event: &mut Event) -> Result<Content, Error> {
    event.layer = Layer::Remote;
    let began = Tick::now();
    let mut trace = FetchTrace::default();
    let found = match (refused::never_asked(&remote.repository, file), remote.repository.as_of) {
        (Some(why), _) => Err(why),
        (None, Some(past)) => Box::pin(file.past(remote, past, &mut trace, event)).await,
        (None, None) if !remote.repository.rules.is_open() && file.is_metadata() => {
            Box::pin(file.filtered(remote, &mut trace, event)).await
        }
        (None, None) => present(remote, file, &mut trace, event).await,
    };
    trace.finish(remote, began, &found, event);
    found
}

impl File<'_> {
    /// The file as of a moment.
    async fn past(
        &self,
        remote: &Remote,
        past: Past,
        trace: &mut FetchTrace,
        event: &mut Event,
    ) -> Result<Content, Error> {
        match &self.layout {
            Layout::Maven(path) => maven::past::file(remote, past, self, path, trace, event).await,
            Layout::Raw(_) => raw::past::file(remote, past, self, trace, event).await,
        }
    }

    /// The metadata, or its checksum, without what policy hides.
    async fn filtered(&self, remote: &Remote, trace: &mut FetchTrace, event: &mut Event) -> Result<Content, Error> {
        match &self.layout {
            Layout::Maven(path) => maven::filtered_metadata::metadata(remote, self, path, trace, event).await,
            Layout::Raw(_) => present(remote, self, trace, event).await,
        }
    }

    /// Until when the upstream itself says that it has nothing in the folder of the file. `None`: there may be something.
    pub(crate) fn excluded_by(&self, remote: &Remote) -> Option<Millis> {
        match &self.layout {
            Layout::Maven(_) => maven::prefixes::excludes(remote, self.folder),
            Layout::Raw(_) => None,
        }
    }
}

/// Has a list of versions read that may tell since when the file exists. Says whether it may be of another age now.
pub(crate) fn look_for_date<'a>(
    remote: &'a Remote,
    file: &'a File<'a>,
    event: &'a mut Event,
) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + 'a>> {
    match &file.layout {
        Layout::Maven(path) => Box::pin(maven::artifact_date::look(remote, *path, event)),
        Layout::Raw(_) => Box::pin(async { Ok(false) }),
    }
}
