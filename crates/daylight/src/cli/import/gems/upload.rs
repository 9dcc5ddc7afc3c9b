//! Uploads the versions of one gem. Versions that the index has with the same digest are not uploaded again.

use super::plan::{Gem, Version, open_unchanged};
use crate::cli::import::report::FileOutcome;
use crate::cli::repository_client::{RepositoryClient, RepositoryConnection, message};
use anyhow::Context as _;
use client::Content;
use format::gem::listing;
use http::StatusCode;
use std::collections::BTreeMap;

/// How the server answers a push of bytes that it has already.
const PUSHED_ALREADY: &str = "Gem was already pushed";

/// Uploads gems on a connection of its own.
pub(super) struct GemUploader {
    repository: RepositoryClient,
    connection: RepositoryConnection,
}

impl GemUploader {
    pub(super) fn new(repository: &RepositoryClient) -> Result<Self, anyhow::Error> {
        Ok(Self { repository: repository.clone(), connection: repository.connect()? })
    }

    /// Uploads the versions that the server does not have, and calls `done` after each. Fails where no other upload could succeed
    /// either.
    pub(super) fn gem(&mut self, gem: Gem, done: &dyn Fn()) -> Result<Vec<FileOutcome>, anyhow::Error> {
        // Where the server has all versions, this is the only request.
        let info = self.connection.text(&format!("info/{}", gem.name))?;
        let present = info.map(|info| listing::checksums(&info)).transpose();
        let present =
            present.with_context(|| format!("the index of `{}` cannot be read", gem.name))?.unwrap_or_default();
        let one = |version| {
            let outcome = self.version(&gem.name, version, &present);
            done();
            outcome
        };
        gem.versions.into_iter().map(one).collect()
    }

    fn version(
        &mut self,
        name: &str,
        version: Version,
        present: &BTreeMap<String, String>,
    ) -> Result<FileOutcome, anyhow::Error> {
        let full_name = version.package.full_name();
        if present.get(&full_name[name.len() + 1..]).is_some_and(|sum| *sum == version.sha256) {
            return Ok(FileOutcome::Present);
        }
        let unread = || format!("cannot read `{}`", version.file.display());
        let Some(file) = open_unchanged(&version.file, &version.sha256).with_context(unread)? else {
            let reason = "other bytes were put there while it was imported".to_owned();
            return Ok(FileOutcome::Refused { file: version.file, reason });
        };
        let answer = self.connection.post("api/v1/gems", Content::File(file));
        let answer = answer.with_context(|| format!("`{full_name}` was not uploaded"))?;
        match answer.status {
            StatusCode::OK if message(&answer).starts_with(PUSHED_ALREADY) => Ok(FileOutcome::Present),
            StatusCode::OK => Ok(FileOutcome::Uploaded),
            status if FileOutcome::is_about_the_file(status) => {
                Ok(FileOutcome::Refused { file: version.file, reason: message(&answer) })
            }
            _ => Err(anyhow::Error::from(self.repository.failure(&answer))
                .context(format!("`{full_name}` was not uploaded"))),
        }
    }
}
