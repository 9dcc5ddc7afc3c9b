//! Decides whether a body whose upstream names gzip is the file, or what it decodes to: a digest that is known decides, else the file's
//! own type.

use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::content_coding::ContentCoding;
use crate::upstream::declared_digests::DeclaredDigests;
use crate::upstream::download::{Download, TAIL, refuse_a_page};
use crate::upstream::failure::Failure;
use crate::upstream::gunzip::Gunzip;
use crate::upstream::trouble::Trouble;
use bytes::BytesMut;
use std::sync::Arc;
use store::{Arrival, Hashes, Held, Lane};
use telemetry::{Event, Op, Reason};

impl Remote {
    /// The file of a body that has arrived. `known` are the digests that are known of it.
    pub(crate) async fn decode(
        &self,
        file: &File<'_>,
        coding: ContentCoding,
        download: Download,
        known: &[&DeclaredDigests],
        event: &mut Event,
    ) -> Result<Download, Trouble> {
        let are_known = known.iter().any(|digests| !digests.is_empty());
        let is_right = |download: &Download| are_known && known.iter().all(|all| all.check(&download.hashes).is_ok());
        match coding {
            ContentCoding::Identity => Ok(download),
            ContentCoding::Gzip if is_right(&download) => Ok(download),
            ContentCoding::Gzip => self.gunzip(file, download.held.clone(), download.hashes.clone(), event).await,
            ContentCoding::GzipOfItself if !are_known || is_right(&download) => Ok(download),
            ContentCoding::GzipOfItself => {
                match self.gunzip(file, download.held.clone(), download.hashes.clone(), event).await {
                    Ok(decoded) if is_right(&decoded) => Ok(decoded),
                    // Neither is right: what came is refused, or taken, as its repository says.
                    Ok(_) | Err(Trouble::Upstream(_)) => Ok(download),
                    Err(other) => Err(other),
                }
            }
        }
    }

    /// What a body decodes to, with the same digests.
    async fn gunzip(
        &self,
        file: &File<'_>,
        held: Held,
        hashes: Hashes,
        event: &mut Event,
    ) -> Result<Download, Trouble> {
        let (store, workers, more) = (&self.remotes.store, &self.remotes.workers, hashes.more());
        let mut gunzip = Gunzip::new(held, hashes.size_bytes, file.longest());
        let (mut first, mut staged) = (BytesMut::new(), None);
        loop {
            let next = move |_: &mut ()| {
                let piece = gunzip.piece();
                (gunzip, piece)
            };
            let (back, piece) = workers.run(Lane::Index, Op::BodyDecode, event, next).await?;
            gunzip = back;
            let piece =
                piece.map_err(|why| Failure::new(Reason::UpstreamInvalid, format!("the upstream's body: {why}")))?;
            if piece.is_empty() {
                break;
            }
            if first.is_empty() {
                refuse_a_page(file, &piece)?;
            }
            match &mut staged {
                None if (first.len() + piece.len()) as u64 <= TAIL => first.extend_from_slice(&piece),
                None => {
                    let mut begun = store.stage_fetched(more, event).await?;
                    if !first.is_empty() {
                        begun.write(first.split().freeze(), event).await?;
                    }
                    begun.write(piece.into(), event).await?;
                    staged = Some(begun);
                }
                Some(staged) => staged.write(piece.into(), event).await?,
            }
        }
        let Some(staged) = staged else {
            let bytes = first.freeze();
            let hashes = event.time(Op::Hash, || Hashes::with(&bytes, more));
            return Ok(Download {
                hashes,
                held: Held::Bytes(bytes.clone()),
                arrival: Arrival::Bytes(bytes),
                growth: None,
            });
        };
        let hashes = staged.hashes()?;
        let held = Held::File(Arc::new(staged.open()?));
        Ok(Download { hashes, held, arrival: Arrival::Staged(Box::new(staged)), growth: None })
    }
}
