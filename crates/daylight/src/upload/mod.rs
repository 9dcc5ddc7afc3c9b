//! Receives uploads: each goes into a temporary blob as it arrives, and is never whole in memory.

pub mod digests;
pub mod elsewhere;
pub mod multipart;
pub(crate) mod origin_headers;
pub(crate) mod publishing;
pub(crate) mod small_bodies;
pub(crate) mod write_headers;
pub mod write_refusal;

use crate::access::Caller;
use crate::app::App;
use crate::error::{Error, Result};
use crate::face::Face;
use crate::formats;
use crate::upload::digests::UploadDigests;
use crate::upload::multipart::{Form, Piece};
use crate::upload::write_headers::WriteHeaders;
use crate::upload::write_refusal::WriteRefusal;
use bytes::{Bytes, BytesMut};
use front::Request;
use repository::Ask;
use store::{Hashes, Hashing, MoreDigests, Staged};
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
) -> Result<Staged> {
    request.upload.limit(app.max_upload_bytes);
    let face = formats::of(ask.repository.format);
    let form = face.upload_field.and_then(|field| Some((Form::announced(&request.headers)?, field)));
    let (staged, body) = match form {
        Some((form, field)) => from_form(app, face, (form?, field), written, request, event).await?,
        None => (from_body(app, face, written, who, request, event).await?, None),
    };
    if !written.digests.is_empty() {
        let hashes = staged.hashes()?;
        written.digests.check(&hashes, body.as_ref())?;
    }
    Ok(staged)
}

/// The body, or published bytes that the headers name in its place.
async fn from_body(
    app: &App,
    face: &'static Face,
    written: &WriteHeaders,
    who: &Caller,
    request: &mut Request,
    event: &mut Event,
) -> Result<Staged> {
    // The first piece comes before the file: an upload that is refused for its announced length leaves no file behind.
    let first = request.upload.next(event).await.transpose()?;
    if first.is_none() && written.by_digest {
        return published(app, &written.digests, who, event).await;
    }
    let mut arriving = Arriving::new(app, face, event).await?;
    if let Some(first) = first {
        arriving.write(first, event).await?;
    }
    while let Some(piece) = request.upload.next(event).await {
        arriving.write(piece?, event).await?;
    }
    arriving.end(event).await
}

/// The bytes of a published file that the caller may read.
async fn published(app: &App, digests: &UploadDigests, who: &Caller, event: &mut Event) -> Result<Staged> {
    if digests.is_empty() {
        return Err(WriteRefusal::NoDigest.into());
    }
    let found = app.repositories.published_bytes(&digests.digests(), |one| who.reads(one), event).await?;
    found.ok_or_else(|| WriteRefusal::UnknownBytes.into())
}

/// A package that still arrives.
struct Arriving {
    staged: Staged,
    /// The format, which makes the error when it cannot be written: `gem` gets words that its users know.
    face: &'static Face,
    /// Less than one write.
    waiting: BytesMut,
}

impl Arriving {
    async fn new(app: &App, face: &'static Face, event: &mut Event) -> Result<Self> {
        let staged = app.store.stage(event).await.map_err(face.unsaved)?;
        Ok(Self { staged, face, waiting: BytesMut::new() })
    }

    async fn write(&mut self, piece: Bytes, event: &mut Event) -> Result<()> {
        self.waiting.extend_from_slice(&piece);
        while self.waiting.len() >= AT_ONCE {
            let full = self.waiting.split_to(AT_ONCE).freeze();
            self.staged.write(full, event).await.map_err(self.face.unsaved)?;
        }
        Ok(())
    }

    async fn end(mut self, event: &mut Event) -> Result<Staged> {
        if !self.waiting.is_empty() {
            self.staged.write(self.waiting.freeze(), event).await.map_err(self.face.unsaved)?;
        }
        Ok(self.staged)
    }
}

/// The package in the field `wanted` of a form, and the digests of the form if a header declares one.
async fn from_form(
    app: &App,
    face: &'static Face,
    (mut form, wanted): (Form, &str),
    written: &WriteHeaders,
    request: &mut Request,
    event: &mut Event,
) -> Result<(Staged, Option<Hashes>)> {
    let (mut package, mut field, mut attestations) = (None, String::new(), Vec::new());
    let mut hashing = written.digests.any_of_body().then(|| Hashing::new(MoreDigests::ALL));
    while let Some(arrived) = request.upload.next(event).await {
        let arrived = arrived?;
        if let Some(hashing) = &mut hashing {
            hashing.update(&arrived);
        }
        for piece in form.take(&arrived)? {
            match (piece, field.as_str()) {
                (Piece::Field(name), _) if name == wanted && package.is_some() => {
                    return Err(Error::Input(format!("the form has two fields `{wanted}`")));
                }
                (Piece::Field(name), _) => {
                    if name == wanted {
                        package = Some(Arriving::new(app, face, event).await?);
                    }
                    field = name;
                }
                (Piece::Bytes(bytes), field) if field == wanted => {
                    if let Some(arriving) = &mut package {
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
    let arriving: Arriving = package.ok_or_else(|| Error::Input(format!("the form has no field `{wanted}`")))?;
    Ok((arriving.end(event).await?, hashing.map(Hashing::finish)))
}
