//! Uploads the files of one version. Files that the server has with the same digest are not uploaded again.

use super::checksums::verify;
use super::tree::ArtifactFile;
use crate::cli::failure::Failure;
use crate::cli::import::origin::{Claims, OriginOutcome, is_later};
use crate::cli::import::report::FileOutcome;
use crate::cli::repository_client::{RepositoryClient, RepositoryConnection, message};
use anyhow::Context as _;
use client::{Content, Response};
use format::percent::segment;
use format::tree::checksum_of;
use http::StatusCode;
use http::header::{CACHE_CONTROL, LAST_MODIFIED};
use std::fs::File;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use telemetry::Millis;

/// Uploads artifacts on a connection of its own.
pub(super) struct MavenUploader<'a> {
    repository: RepositoryClient,
    connection: RepositoryConnection,
    claims: &'a Claims,
}

impl<'a> MavenUploader<'a> {
    pub(super) fn new(repository: &RepositoryClient, claims: &'a Claims) -> Result<Self, anyhow::Error> {
        Ok(Self { repository: repository.clone(), connection: repository.connect()?, claims })
    }

    /// Uploads the files of a version that the server does not have, and calls `done` after each. Fails where no other upload could
    /// succeed either.
    pub(super) fn folder(
        &mut self,
        folder: Vec<ArtifactFile>,
        done: &dyn Fn(),
    ) -> Result<Vec<FileOutcome>, anyhow::Error> {
        // The POM comes last, as it publishes the version.
        let (poms, others): (Vec<_>, Vec<_>) = folder.into_iter().partition(|file| file.path.ends_with(".pom"));
        let one = |artifact: ArtifactFile| {
            let outcome = self.file(&artifact).with_context(|| format!("`{}` was not uploaded", artifact.path));
            done();
            outcome
        };
        others.into_iter().chain(poms).map(one).collect()
    }

    fn file(&mut self, artifact: &ArtifactFile) -> Result<FileOutcome, anyhow::Error> {
        let refused = |reason| Ok(FileOutcome::Refused { file: artifact.file.clone(), reason });
        let unread = || format!("cannot read `{}`", artifact.file.display());
        let file = Arc::new(File::open(&artifact.file).with_context(unread)?);
        let sha1 = match verify(artifact, &file)? {
            Ok(sha1) => sha1,
            Err(reason) => return refused(reason),
        };
        let path = artifact.path.split('/').map(segment).collect::<Vec<_>>().join("/");
        let present = self.connection.head(&path)?;
        // The checksum of a raw file is answered whether or not it is a file of its own.
        let computed = checksum_of(&artifact.path).is_some();
        if !computed
            && present.status == StatusCode::OK
            && present.headers.get("x-checksum-sha1").is_some_and(|is| *is == *sha1)
        {
            // Where there is none, the same bytes again bring it.
            if let Some(origin) = self.origin_there(&present, artifact.published) {
                return Ok(FileOutcome::Present(origin));
            }
        }
        let connection = &mut self.connection;
        let send = |headers| connection.put(&path, headers, Content::File(file.clone()));
        let (answer, origin) = self.claims.send(artifact.published, send, |answer| answer.status)?;
        match answer.status {
            StatusCode::CREATED => Ok(FileOutcome::Uploaded { origin, notice: None }),
            status if status.is_success() => Ok(FileOutcome::Present(origin)),
            status if FileOutcome::is_about_the_file(status) => refused(message(&answer)),
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => {
                let hint = "name a hosted repository; `daylight repo add NAME --format maven` (or `raw`) adds one";
                let text = format!("the repository takes no artifacts: {}", message(&answer));
                Err(Failure::new(text, Some(hint.to_owned())).into())
            }
            _ => Err(self.repository.failure(&answer).into()),
        }
    }

    /// What to say of the origin of a file that is there; `None`: the server's date is to be corrected.
    fn origin_there(&self, present: &Response, published: Option<Millis>) -> Option<OriginOutcome> {
        let Some(published) = published else { return Some(OriginOutcome::Unknown) };
        let text = |name| present.headers.get(name).and_then(|value| value.to_str().ok());
        let shown = text(LAST_MODIFIED).and_then(|text| httpdate::parse_http_date(text).ok());
        let shown = shown.and_then(|shown| shown.duration_since(UNIX_EPOCH).ok());
        let shown = shown.and_then(|shown| i64::try_from(shown.as_millis()).ok()).map(Millis);
        // A file that may be replaced is dated by its arrival, whatever its origin.
        let lasting = text(CACHE_CONTROL).is_some_and(|control| control.contains("immutable"));
        match shown {
            Some(shown) if lasting && is_later(shown, published) => {
                (!self.claims.allowed()).then_some(OriginOutcome::NotAllowed)
            }
            _ => Some(OriginOutcome::There),
        }
    }
}
