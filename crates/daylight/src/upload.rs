//! Packages on their way in: into a temporary blob as they arrive, never whole in memory.

use crate::app::App;
use crate::error::Error;
use front::Request;
use repository::{Ask, Question};
use store::Staged;
use telemetry::Event;

/// The upload of a question that brings one, on disk but not kept yet. Asked for only after access was granted, so a
/// stranger's bytes are never written.
pub(crate) async fn receive(
    app: &App,
    ask: &Ask,
    request: &mut Request,
    event: &mut Event,
) -> Result<Option<Staged>, Error> {
    if ask.question != Question::Push {
        return Ok(None);
    }
    request.upload.limit(app.max_upload_bytes);
    // The first piece first: what is refused by its announced length leaves no file to put away.
    let first = request.upload.next(event).await.transpose()?;
    let mut staged = app.store.stage(event).await?;
    if let Some(first) = first {
        staged.write(first, event).await?;
    }
    while let Some(piece) = request.upload.next(event).await {
        staged.write(piece?, event).await?;
    }
    Ok(Some(staged))
}
