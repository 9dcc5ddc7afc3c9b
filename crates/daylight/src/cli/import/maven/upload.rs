//! The files of one version to the server: those that it has with the same bytes are there already.

use super::sums::verified;
use super::tree::Found;
use crate::cli::failure::Failure;
use crate::cli::import::outcome::Outcome;
use crate::cli::site::{Link, Site, said};
use anyhow::Context as _;
use client::Content;
use format::percent::segment;
use http::StatusCode;
use std::fs::File;
use std::sync::Arc;

/// A thread's way to upload.
pub(super) struct Upload {
    site: Site,
    link: Link,
}

impl Upload {
    pub(super) fn new(site: &Site) -> Result<Self, anyhow::Error> {
        Ok(Self { site: site.clone(), link: site.link()? })
    }

    /// Uploads what is missing of a version, and says `done` after each file. Fails where nothing else could be uploaded
    /// either.
    pub(super) fn folder(&mut self, folder: Vec<Found>, done: &dyn Fn()) -> Result<Vec<Outcome>, anyhow::Error> {
        // The POM last, as a version is there when it is.
        let (poms, others): (Vec<_>, Vec<_>) = folder.into_iter().partition(|found| found.path.ends_with(".pom"));
        let one = |found: Found| {
            let outcome = self.file(&found).with_context(|| format!("`{}` was not uploaded", found.path));
            done();
            outcome
        };
        others.into_iter().chain(poms).map(one).collect()
    }

    fn file(&mut self, found: &Found) -> Result<Outcome, anyhow::Error> {
        let refused = |reason| Ok(Outcome::Refused { file: found.file.clone(), reason });
        let unread = || format!("cannot read `{}`", found.file.display());
        let file = Arc::new(File::open(&found.file).with_context(unread)?);
        let sha1 = match verified(found, &file)? {
            Ok(sha1) => sha1,
            Err(reason) => return refused(reason),
        };
        let path = found.path.split('/').map(segment).collect::<Vec<_>>().join("/");
        let there = self.link.head(&path)?;
        if there.status == StatusCode::OK && there.headers.get("x-checksum-sha1").is_some_and(|is| *is == *sha1) {
            return Ok(Outcome::There);
        }
        let answer = self.link.put(&path, Content::File(file))?;
        match answer.status {
            StatusCode::CREATED => Ok(Outcome::Uploaded),
            status if status.is_success() => Ok(Outcome::There),
            status if Outcome::is_about_the_file(status) => refused(said(&answer)),
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => {
                let hint = "name a hosted Maven repository; `daylight repo add NAME --format maven` makes one";
                let text = format!("no artifacts can be put there: {}", said(&answer));
                Err(Failure::new(text, Some(hint.to_owned())).into())
            }
            _ => Err(self.site.refused(&answer).into()),
        }
    }
}
