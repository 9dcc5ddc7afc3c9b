//! A file of a remote tree, as its format answers it: as of now or of a moment, and without what the policy hides.
//!
//! The parts that do not depend on the format are in `upstream/`.

use crate::content::Content;
use crate::error::Result;
use crate::maven::koji::answer;
use crate::tree::file::File;
use crate::upstream::fetch::present;
use crate::upstream::trace::FetchTrace;
use crate::upstream::{Remote, refused};
use telemetry::{Event, Layer, Tick};

/// Returns the file, or its checksum.
pub(crate) async fn fetch(remote: &Remote, file: &File<'_>, event: &mut Event) -> Result<Content> {
    event.layer = Layer::Remote;
    let began = Tick::now();
    let mut trace = FetchTrace::default();
    let found = match (refused::never_asked(&remote.repository, file), remote.repository.as_of) {
        (Some(why), _) => Err(why),
        (None, _) if remote.repository.is_koji() => Box::pin(answer::fetch(remote, file, &mut trace, event)).await,
        (None, Some(past)) => Box::pin(file.past(remote, past, &mut trace, event)).await,
        (None, None) if !remote.repository.rules.is_open() && file.is_metadata() => {
            Box::pin(file.filtered(remote, &mut trace, event)).await
        }
        (None, None) => present(remote, file, &mut trace, event).await,
    };
    trace.finish(remote, began, &found, event);
    found
}
