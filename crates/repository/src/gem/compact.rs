//! Compacts `/versions`: one line for each gem that has a published version, instead of one for each change.

use crate::error::Result;
use crate::gem::hosted::Hosted;
use crate::gem::versions;
use crate::record::IndexBase;
use telemetry::{Event, Op};

/// Writes the compacted file, commits the change, and puts the file in place. Every later request gets it. `false`: an
/// expectation of the change did not hold.
pub(crate) async fn compact(
    hosted: Hosted<'_>,
    base: IndexBase,
    commit: impl AsyncFnOnce(&mut Event) -> Result<bool>,
    event: &mut Event,
) -> Result<bool> {
    let made = versions::begin(hosted, Some(base), event).await?;
    if !commit(event).await? {
        return Ok(false);
    }
    let mut turn = event.waited(Op::TurnWait, hosted.indexes.versions.clone().lock_owned()).await;
    // Another task may have read the change and compacted first.
    if turn.source().is_none_or(|there| there.is_older_than(&made)) {
        turn.replace(made);
    }
    Ok(true)
}
