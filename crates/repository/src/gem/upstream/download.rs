//! A gem of an upstream: the file whose SHA-256 is the one in the line of its version.

use crate::content::Content;
use crate::error::Error;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::info_rows::InfoRow;
use crate::upstream::fetch::file_by;
use crate::upstream::proof::Proof;
use crate::upstream::trace::FetchTrace;
use crate::visible::shown;
use format::gem::spelling;
use store::Digest;
use telemetry::{Event, Tick};

impl RemoteGems<'_> {
    /// The gem of this full name.
    pub(crate) async fn gem(self, full_name: &str, event: &mut Event) -> Result<Content, Error> {
        let row = self.version(full_name, event).await?;
        event.subject.package = row.name.as_str().into();
        let view = self.remote.repository.view(self.now());
        let unseen = |why: Option<_>| why.map_or(Error::NoSuchPackage, Error::from);
        if let Some(let_through) = shown(&row, view).map_err(unseen)? {
            event.detail = let_through;
        }
        let path = format!("gems/{full_name}.gem");
        let proof = row.checksum().and_then(|hex| hex.parse::<Digest>().ok()).map_or(Proof::Age, Proof::Sha256);
        let (file, began, mut trace) = (self.remote.repository.file(&path), Tick::now(), FetchTrace::default());
        let found = Box::pin(file_by(self.remote, &file, proof, &mut trace, event)).await;
        trace.finish(self.remote, began, &found, event);
        Ok(Content { lasting: true, media: "application/octet-stream", ..found? })
    }

    /// The version of this full name, whatever policy says of it.
    pub(crate) async fn version(self, full_name: &str, event: &mut Event) -> Result<InfoRow, Error> {
        for reading in spelling::readings(full_name).take(spelling::READINGS) {
            let token = &full_name[reading.name.len() + 1..];
            match self.listed(reading.name, event).await {
                Ok(listed) if listed.versions.iter().any(|version| *version.token == *token) => {
                    let info = self.whole_info(reading.name, event).await?;
                    if let Some(row) = info.rows.into_iter().find(|row| row.token == token) {
                        return Ok(row);
                    }
                }
                Ok(_) | Err(Error::NoSuchPackage) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::NoSuchPackage)
    }
}
