//! Beginning `/versions` anew: a line for each gem that has a version to offer, in place of one for each change.

use crate::error::Error;
use crate::gem::hosted::Hosted;
use crate::gem::versions;
use crate::record::IndexBase;
use telemetry::Event;

/// Writes the file with its new beginning, commits the change, and puts the file in place: every later request gets it. `false`: the
/// change was refused.
pub(crate) async fn compact(
    hosted: Hosted<'_>,
    base: IndexBase,
    commit: impl AsyncFnOnce(&mut Event) -> Result<bool, Error>,
    event: &mut Event,
) -> Result<bool, Error> {
    let made = versions::begin(hosted, Some(base), event).await?;
    if !commit(event).await? {
        return Ok(false);
    }
    let mut turn = hosted.indexes.versions.clone().lock_owned().await;
    // Somebody who knew of it may have been quicker.
    if turn.source().is_none_or(|there| there.is_older_than(&made)) {
        turn.replace(made);
    }
    Ok(true)
}
