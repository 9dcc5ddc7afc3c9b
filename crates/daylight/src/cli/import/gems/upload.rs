//! One gem's versions to the server: those that the index has with the same bytes are there already.

use super::plan::{Gem, Version, opened};
use crate::cli::import::outcome::Outcome;
use crate::cli::site::{Link, Site, said};
use anyhow::Context as _;
use client::Content;
use format::gem::listing;
use http::StatusCode;
use std::collections::BTreeMap;

/// What the server says of bytes that it has.
const AGAIN: &str = "Gem was already pushed";

/// A thread's way to upload.
pub(super) struct Upload {
    site: Site,
    link: Link,
}

impl Upload {
    pub(super) fn new(site: &Site) -> Result<Self, anyhow::Error> {
        Ok(Self { site: site.clone(), link: site.link()? })
    }

    /// Uploads what is missing of a gem, and says `done` after each file. Fails where nothing else could be uploaded
    /// either.
    pub(super) fn gem(&mut self, gem: Gem, done: &dyn Fn()) -> Result<Vec<Outcome>, anyhow::Error> {
        // Asked for the whole gem at once: where all is there, this is the only request.
        let info = self.link.text(&format!("info/{}", gem.name))?;
        let there = info.map(|info| listing::checksums(&info)).transpose();
        let there = there.with_context(|| format!("the index of `{}` cannot be read", gem.name))?.unwrap_or_default();
        let one = |version| {
            let outcome = self.version(&gem.name, version, &there);
            done();
            outcome
        };
        gem.versions.into_iter().map(one).collect()
    }

    fn version(
        &mut self,
        name: &str,
        version: Version,
        there: &BTreeMap<String, String>,
    ) -> Result<Outcome, anyhow::Error> {
        let full_name = version.package.full_name();
        if there.get(&full_name[name.len() + 1..]).is_some_and(|sum| *sum == version.sha256) {
            return Ok(Outcome::There);
        }
        let unread = || format!("cannot read `{}`", version.file.display());
        let Some(file) = opened(&version.file, &version.sha256).with_context(unread)? else {
            let reason = "other bytes were put there while it was imported".to_owned();
            return Ok(Outcome::Refused { file: version.file, reason });
        };
        let answer = self.link.post("api/v1/gems", Content::File(file));
        let answer = answer.with_context(|| format!("`{full_name}` was not uploaded"))?;
        match answer.status {
            StatusCode::OK if said(&answer).starts_with(AGAIN) => Ok(Outcome::There),
            StatusCode::OK => Ok(Outcome::Uploaded),
            status if Outcome::is_about_the_file(status) => {
                Ok(Outcome::Refused { file: version.file, reason: said(&answer) })
            }
            _ => {
                Err(anyhow::Error::from(self.site.refused(&answer)).context(format!("`{full_name}` was not uploaded")))
            }
        }
    }
}
