//! A gem of an upstream: the file whose SHA-256 stands in the line of its version.

use crate::content::Content;
use crate::error::{Error, Result};
use crate::gem::download::Names;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::forbidden::forbidden;
use crate::gem::upstream::info_rows::InfoRow;
use crate::upstream::failure::Failure;
use crate::upstream::fetch::file_by;
use crate::upstream::proof::Proof;
use crate::upstream::trace::FetchTrace;
use crate::visible::shown;
use format::gem::spelling::readings;
use format::gem::upstream::full_name::candidates_by;
use store::Digest;
use telemetry::{Event, Tick};

impl RemoteGems<'_> {
    /// The gem of this full name.
    pub(crate) async fn gem(self, full_name: &str, of: Names<'_>, event: &mut Event) -> Result<Content> {
        let row = self.version(full_name, of, event).await?;
        event.subject.package = row.name.as_str().into();
        let view = self.remote.repository.view(self.now());
        let unseen = |why: Option<_>| why.map_or(Error::NoSuchPackage, Error::from);
        if let Some(let_through) = shown(&row, view).map_err(unseen)? {
            event.detail = let_through;
        }
        let path = format!("gems/{}-{}.gem", row.name, row.token);
        let proof = row.checksum.map_or(Proof::Age, |checksum| Proof::Sha256(Digest(checksum.0)));
        let (file, began, mut trace) = (self.remote.repository.file(&path), Tick::now(), FetchTrace::default());
        let found = match self.remote.repository.as_of {
            None => Box::pin(file_by(self.remote, &file, proof, &mut trace, event)).await,
            Some(_) => self.gem_then(&row, &path, proof, &mut trace, event).await,
        };
        trace.finish(self.remote, began, &found, event);
        Ok(Content { lasting: true, media: "application/octet-stream", ..found? })
    }

    /// The upstream's attestations of the gem with this full name. They are relayed unchanged, because clients verify
    /// the signatures.
    pub(crate) async fn attestations(self, full_name: &str, of: Names<'_>, event: &mut Event) -> Result<Content> {
        if self.remote.repository.as_of.is_some() {
            return Err(self.unsupported("tell what was attested at a moment"));
        }
        let row = self.version(full_name, of, event).await?;
        let view = self.remote.repository.view(self.now());
        shown(&row, view).map_err(|why: Option<_>| why.map_or(Error::NoSuchPackage, Error::from))?;
        let path = format!("api/v1/attestations/{}-{}.json", row.name, row.token);
        let (file, began, mut trace) = (self.remote.repository.file(&path), Tick::now(), FetchTrace::default());
        let found = Box::pin(file_by(self.remote, &file, Proof::Age, &mut trace, event)).await;
        // Servers that keep no attestations may have no such call.
        let found = match found {
            Err(Error::Upstream(failure)) if failure.is_of_unknown_call() => Err(Error::NoSuchFile(path)),
            found => found,
        };
        trace.finish(self.remote, began, &found, event);
        Ok(Content { media: "application/json", ..found? })
    }

    /// The version with this full name, regardless of the policy.
    pub(crate) async fn version(self, full_name: &str, of: Names<'_>, event: &mut Event) -> Result<InfoRow> {
        self.ready(event).await?;
        let end = self.end()?;
        let meant = || {
            let mut found = self.known(|known| candidates_by(known.listing.log(), full_name, end))?;
            found.retain(|candidate| of(&candidate.name));
            Ok::<_, Error>(found)
        };
        let mut found = meant()?;
        if found.is_empty() && self.remote.repository.as_of.is_none() {
            self.ready_for_new(event).await?;
            found = meant()?;
        }
        let mut behind = None;
        for candidate in found {
            let number = candidate.token.split_once('-').map_or(&*candidate.token, |(number, _)| number);
            if let Some(hidden) = forbidden(&self.remote.repository, &candidate.name, number) {
                event.subject.package = candidate.name.as_str().into();
                return Err(hidden.into());
            }
            let mut versions = self.whole_info(&candidate.name, event).await?;
            let rows = std::mem::take(&mut versions.rows);
            if let Some(row) = rows.into_iter().find(|row| row.token == candidate.token) {
                return Ok(row);
            }
            behind = behind.or_else(|| versions.behind());
        }
        match behind {
            // The index lists it, and its `/info` has not arrived yet.
            Some(why) => {
                let text = format!("the upstream's index lists `{full_name}`, and its `/info` has no such line yet");
                Err(Failure::new(why, text).into())
            }
            None => self.version_ahead(full_name, of, event).await?.ok_or(Error::NoSuchPackage),
        }
    }

    /// The version with this full name that the `/info` of a listed gem has and the index still lacks; or the rule that
    /// hides it at any age.
    async fn version_ahead(self, full_name: &str, of: Names<'_>, event: &mut Event) -> Result<Option<InfoRow>> {
        if self.remote.repository.as_of.is_some() {
            return Ok(None);
        }
        let mut hidden = None;
        for reading in readings(full_name) {
            if !of(reading.name) || self.gem_now(reading.name).is_none() {
                continue;
            }
            // No call: whether the upstream has it or not, clients do not get it.
            if let Some(why) = forbidden(&self.remote.repository, reading.name, reading.number) {
                hidden = hidden.or(Some(why));
                continue;
            }
            let token = &full_name[reading.name.len() + 1..];
            let versions = self.whole_info(reading.name, event).await?;
            if let Some(row) = versions.rows.into_iter().find(|row| row.token == token) {
                return Ok(Some(row));
            }
        }
        hidden.map_or(Ok(None), |why| Err(why.into()))
    }
}
