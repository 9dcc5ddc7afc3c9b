//! Packages on their way in: into a temporary blob as they arrive, never whole in memory.

use crate::app::App;
use crate::error::Error;
use crate::multipart::{Form, Piece};
use front::Request;
use repository::Error::Unsaved;
use repository::{Ask, Question};
use store::Staged;
use telemetry::Event;

/// What `gem push --attestation` is told: who built a gem is attested by the service that built it, and no token of ours
/// is such a service's.
const UNTRUSTED: &str = "Pushing with an attestation requires trusted publishing";
/// The list of no attestations.
const NONE: [&[u8]; 2] = [b"", b"[]"];

/// The upload of a question that brings one, on disk but not kept yet. Asked for only after access was granted, so a
/// stranger's bytes are never written.
pub(crate) async fn receive(
    app: &App,
    ask: &Ask,
    request: &mut Request,
    event: &mut Event,
) -> Result<Option<Staged>, Error> {
    if !ask.question.brings_bytes() {
        return Ok(None);
    }
    request.upload.limit(app.max_upload_bytes);
    if ask.question == Question::Push
        && let Some(form) = Form::announced(&request.headers)
    {
        return from_form(app, form?, request, event).await.map(Some);
    }
    // The first piece first: what is refused by its announced length leaves no file to put away.
    let first = request.upload.next(event).await.transpose()?;
    let mut staged = app.store.stage(event).await.map_err(Unsaved)?;
    if let Some(first) = first {
        staged.write(first, event).await.map_err(Unsaved)?;
    }
    while let Some(piece) = request.upload.next(event).await {
        staged.write(piece?, event).await.map_err(Unsaved)?;
    }
    Ok(Some(staged))
}

/// The field `gem` of a form.
async fn from_form(app: &App, mut form: Form, request: &mut Request, event: &mut Event) -> Result<Staged, Error> {
    let (mut staged, mut field, mut attestations) = (None, String::new(), Vec::new());
    while let Some(arrived) = request.upload.next(event).await {
        for piece in form.take(&arrived?)? {
            match (piece, field.as_str()) {
                (Piece::Field(name), _) if name == "gem" && staged.is_some() => {
                    return Err(Error::Input("the form has two fields `gem`".into()));
                }
                (Piece::Field(name), _) => {
                    if name == "gem" {
                        staged = Some(app.store.stage(event).await.map_err(Unsaved)?);
                    }
                    field = name;
                }
                (Piece::Bytes(bytes), "gem") => {
                    if let Some(staged) = &mut staged {
                        staged.write(bytes, event).await.map_err(Unsaved)?;
                    }
                }
                (Piece::Bytes(bytes), "attestations") => {
                    attestations.extend_from_slice(&bytes);
                    if !NONE.iter().any(|none| none.starts_with(attestations.trim_ascii())) {
                        return Err(Error::Input(UNTRUSTED.into()));
                    }
                }
                (Piece::Bytes(_), _) => {}
            }
        }
    }
    form.end()?;
    staged.ok_or_else(|| Error::Input("the form has no field `gem`".into()))
}
