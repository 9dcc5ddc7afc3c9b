//! A file of a remote tree, as its format has it answered: as it is now, or as of a moment, and without what policy hides.
//!
//! What the formats have in common is in `upstream/`, which knows none of them.

use crate::content::Content;
use crate::error::Error;
use crate::tree::file::File;
use crate::upstream::fetch::present;
use crate::upstream::trace::FetchTrace;
use crate::upstream::{Remote, refused};
use telemetry::{Event, Layer, Tick};

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
