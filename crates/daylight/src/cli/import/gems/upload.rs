//! Uploads the versions of one gem. Versions that the index has with the same digest are not uploaded again.

use super::plan::{Gem, Version, open_unchanged};
use crate::cli::import::origin::{Claims, OriginOutcome, is_later};
use crate::cli::import::report::FileOutcome;
use crate::cli::repository_client::{RepositoryClient, RepositoryConnection, message};
use anyhow::Context as _;
use client::Content;
use format::gem::listing;
use http::StatusCode;
use repository::moment;
use serde::Deserialize;
use std::collections::BTreeMap;
use telemetry::Millis;

/// How the server answers a push of bytes that it has already.
const PUSHED_ALREADY: &str = "Gem was already pushed";
/// How that answer ends if the push brought its origin.
const ORIGIN_SET: &str = "; its origin was set";

/// Uploads gems on a connection of its own.
pub(super) struct GemUploader<'a> {
    repository: RepositoryClient,
    connection: RepositoryConnection,
    claims: &'a Claims,
}

/// What the server has of a gem, by `NUMBER[-PLATFORM]`.
#[derive(Default)]
struct Present {
    /// The SHA-256 of each version, hexadecimal.
    checksums: BTreeMap<String, String>,
    /// When it says that each version was published.
    moments: BTreeMap<String, Millis>,
}

impl<'a> GemUploader<'a> {
    pub(super) fn new(repository: &RepositoryClient, claims: &'a Claims) -> anyhow::Result<Self> {
        Ok(Self { repository: repository.clone(), connection: repository.connect()?, claims })
    }

    /// Uploads the versions that the server does not have, and calls `done` after each. Fails where no other upload could succeed
    /// either.
    pub(super) fn gem(&mut self, gem: Gem, done: &dyn Fn()) -> anyhow::Result<Vec<FileOutcome>> {
        // Where the server has all versions, these are the only requests.
        let present = self.present(&gem)?;
        let one = |version| {
            let outcome = self.version(&gem.name, version, &present);
            done();
            outcome
        };
        gem.versions.into_iter().map(one).collect()
    }

    fn present(&mut self, gem: &Gem) -> anyhow::Result<Present> {
        let Some(info) = self.connection.text(&format!("info/{}", gem.name))? else { return Ok(Present::default()) };
        let unread = || format!("the index of `{}` cannot be read", gem.name);
        let checksums = listing::checksums(&info).with_context(unread)?;
        let mut moments: BTreeMap<_, _> =
            listing::moments(&info).into_iter().map(|(version, at)| (version, Millis(at * 1000))).collect();
        let dated = gem.versions.iter().any(|version| version.published.is_some());
        if dated && moments.is_empty() && !checksums.is_empty() && self.claims.allowed() {
            // Its `/info` is of the form without moments.
            let json = self.connection.bytes(&format!("api/v1/versions/{}.json", gem.name))?.unwrap_or_default();
            let versions: Vec<PublishedVersion> = serde_json::from_slice(&json).with_context(unread)?;
            let told = |told: PublishedVersion| {
                Some((slug(&told.number, &told.platform), moment::read(&told.created_at).ok()?))
            };
            moments = versions.into_iter().filter_map(told).collect();
        }
        Ok(Present { checksums, moments })
    }

    fn version(&mut self, name: &str, version: Version, present: &Present) -> anyhow::Result<FileOutcome> {
        let full_name = version.package.full_name();
        let number = &full_name[name.len() + 1..];
        if present.checksums.get(number).is_some_and(|sum| *sum == version.sha256) {
            let Some(published) = version.published else { return Ok(FileOutcome::Present(OriginOutcome::Unknown)) };
            match present.moments.get(number) {
                Some(shown) if is_later(*shown, published) && self.claims.allowed() => {}
                Some(shown) if is_later(*shown, published) => {
                    return Ok(FileOutcome::Present(OriginOutcome::NotAllowed));
                }
                _ => return Ok(FileOutcome::Present(OriginOutcome::There)),
            }
        }
        let unread = || format!("cannot read `{}`", version.file.display());
        let Some(file) = open_unchanged(&version.file, &version.sha256).with_context(unread)? else {
            let reason = "the file was changed during the import".to_owned();
            return Ok(FileOutcome::Refused { file: version.file, reason });
        };
        let connection = &mut self.connection;
        let send = |headers| connection.post("api/v1/gems", headers, Content::File(file.clone()));
        let sent = self.claims.send(version.published, send, |answer| answer.status);
        let (answer, origin) = sent.with_context(|| format!("`{full_name}` was not uploaded"))?;
        match answer.status {
            StatusCode::OK if message(&answer).starts_with(PUSHED_ALREADY) => {
                let was_there = origin == OriginOutcome::Set && !message(&answer).ends_with(ORIGIN_SET);
                Ok(FileOutcome::Present(if was_there { OriginOutcome::There } else { origin }))
            }
            StatusCode::OK => {
                let notice = message(&answer).split_once('\n').map(|(_, more)| format!("{full_name}: {more}"));
                Ok(FileOutcome::Uploaded { origin, notice })
            }
            status if FileOutcome::is_about_the_file(status) => {
                Ok(FileOutcome::Refused { file: version.file, reason: message(&answer) })
            }
            _ => Err(anyhow::Error::from(self.repository.failure(&answer))
                .context(format!("`{full_name}` was not uploaded"))),
        }
    }
}

/// A version in the list of the server's API.
#[derive(Deserialize)]
struct PublishedVersion {
    number: String,
    platform: String,
    created_at: String,
}

/// `NUMBER[-PLATFORM]`.
fn slug(number: &str, platform: &str) -> String {
    if platform == "ruby" { number.to_owned() } else { format!("{number}-{platform}") }
}
