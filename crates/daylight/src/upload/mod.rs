//! Receives uploads: each goes into a temporary blob as it arrives, and is never whole in memory.

pub mod digests;
pub mod elsewhere;
pub mod multipart;
pub(crate) mod origin_headers;
pub(crate) mod publishing;
pub(crate) mod small_bodies;
pub(crate) mod write_headers;
pub mod write_refusal;

use crate::access::{Caller, Token};
use crate::app::App;
use crate::error::Error;
use crate::upload::digests::UploadDigests;
use crate::upload::multipart::{Form, Piece};
use crate::upload::write_headers::WriteHeaders;
use crate::upload::write_refusal::WriteRefusal;
use bytes::{Bytes, BytesMut};
use front::Request;
use repository::{Ask, Question, Repository, Scope};
use store::{Hashes, Hashing, Staged};
use telemetry::Event;

/// The answer to `gem push --attestation`. The service that built a gem attests to it, and no token here belongs to such a service.
const UNTRUSTED: &str = "Pushing with an attestation requires trusted publishing";
/// The list of no attestations.
const NONE: [&[u8]; 2] = [b"", b"[]"];

/// Bytes of one write. The page cache holds a file in units as large as its aligned writes; sending a file that was written in odd
/// pieces costs a quarter more each time. Larger writes also need fewer turns of a thread.
const AT_ONCE: usize = 256 << 10;

/// Receives the upload onto disk, where it is not published yet. It is called only after access was granted, so a
/// stranger's bytes are never written.
pub(crate) async fn receive(
    app: &App,
    ask: &Ask<'_>,
    written: &WriteHeaders,
    who: &Caller,
    request: &mut Request,
    event: &mut Event,
) -> Result<Staged, Error> {
    request.upload.limit(app.max_upload_bytes);
    let gem = matches!(ask.question, Question::Gem(_));
    let (staged, body) = match Form::announced(&request.headers).filter(|_| gem) {
        Some(form) => from_form(app, form?, written, request, event).await?,
        None => (from_body(app, gem, written, who, request, event).await?, None),
    };
    if !written.digests.is_empty() {
        let hashes = staged.hashes().ok_or(store::Error::GivenUp)?;
        written.digests.check(&hashes, body.as_ref())?;
    }
    Ok(staged)
}

/// The body, or published bytes that the headers name in its place.
async fn from_body(
    app: &App,
    gem: bool,
    written: &WriteHeaders,
    who: &Caller,
    request: &mut Request,
    event: &mut Event,
) -> Result<Staged, Error> {
    // The first piece comes before the file: an upload that is refused for its announced length leaves no file behind.
    let first = request.upload.next(event).await.transpose()?;
    if first.is_none() && written.by_digest {
        return published(app, &written.digests, who, event).await;
    }
    let mut arriving = Arriving::new(app, gem, event).await?;
    if let Some(first) = first {
        arriving.write(first, event).await?;
    }
    while let Some(piece) = request.upload.next(event).await {
        arriving.write(piece?, event).await?;
    }
    arriving.end(event).await
}

/// The bytes of a published file that the caller may read.
async fn published(app: &App, digests: &UploadDigests, who: &Caller, event: &mut Event) -> Result<Staged, Error> {
    if digests.is_empty() {
        return Err(WriteRefusal::NoDigest.into());
    }
    let may_read = |one: &Repository| {
        let has = |token: &Token| token.allows(Scope::Read, Some(one.id));
        !one.record.private || who.token.as_deref().is_some_and(has)
    };
    let found = app.repositories.published_bytes(&digests.digests(), may_read, event).await?;
    found.ok_or_else(|| WriteRefusal::UnknownBytes.into())
}

/// A package that still arrives.
struct Arriving {
    staged: Staged,
    /// Makes the error when it cannot be written: `gem` gets words that its users know.
    unsaved: fn(store::Error) -> repository::Error,
    /// Less than one write.
    waiting: BytesMut,
}

impl Arriving {
    /// `gem`: whether a gem is pushed.
    async fn new(app: &App, gem: bool, event: &mut Event) -> Result<Self, Error> {
        let unsaved = if gem { repository::Error::Unsaved } else { repository::Error::Store };
        let staged = app.store.stage(event).await.map_err(unsaved)?;
        Ok(Self { staged, unsaved, waiting: BytesMut::new() })
    }

    async fn write(&mut self, piece: Bytes, event: &mut Event) -> Result<(), Error> {
        self.waiting.extend_from_slice(&piece);
        while self.waiting.len() >= AT_ONCE {
            let full = self.waiting.split_to(AT_ONCE).freeze();
            self.staged.write(full, event).await.map_err(self.unsaved)?;
        }
        Ok(())
    }

    async fn end(mut self, event: &mut Event) -> Result<Staged, Error> {
        if !self.waiting.is_empty() {
            self.staged.write(self.waiting.freeze(), event).await.map_err(self.unsaved)?;
        }
        Ok(self.staged)
    }
}

/// The field `gem` of a form, and the digests of the form if a header declares one.
async fn from_form(
    app: &App,
    mut form: Form,
    written: &WriteHeaders,
    request: &mut Request,
    event: &mut Event,
) -> Result<(Staged, Option<Hashes>), Error> {
    let (mut gem, mut field, mut attestations) = (None, String::new(), Vec::new());
    let mut hashing = written.digests.any_of_body().then(Hashing::default);
    while let Some(arrived) = request.upload.next(event).await {
        let arrived = arrived?;
        if let Some(hashing) = &mut hashing {
            hashing.update(&arrived);
        }
        for piece in form.take(&arrived)? {
            match (piece, field.as_str()) {
                (Piece::Field(name), _) if name == "gem" && gem.is_some() => {
                    return Err(Error::Input("the form has two fields `gem`".into()));
                }
                (Piece::Field(name), _) => {
                    if name == "gem" {
                        gem = Some(Arriving::new(app, true, event).await?);
                    }
                    field = name;
                }
                (Piece::Bytes(bytes), "gem") => {
                    if let Some(arriving) = &mut gem {
                        arriving.write(bytes, event).await?;
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
    let arriving: Arriving = gem.ok_or_else(|| Error::Input("the form has no field `gem`".into()))?;
    Ok((arriving.end(event).await?, hashing.map(Hashing::finish)))
}
