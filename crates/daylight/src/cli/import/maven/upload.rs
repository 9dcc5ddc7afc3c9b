//! Uploads the files of one version. Files that the server has with the same digest are not uploaded again.

use super::checksums::verify;
use super::decision::folder_of;
use super::tree::ArtifactFile;
use crate::cli::failure::{Failure, plain};
use crate::cli::import::flags::Paths;
use crate::cli::import::origin::{Claims, OriginOutcome, is_later};
use crate::cli::import::report::FileOutcome;
use crate::cli::repository_client::{RepositoryClient, RepositoryConnection, message};
use anyhow::Context as _;
use client::{Content, Response};
use format::percent::segment;
use format::tree::checksum_of;
use http::StatusCode;
use http::header::{CACHE_CONTROL, LAST_MODIFIED};
use serde_json::Value;
use std::fs::File;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use telemetry::Millis;

/// Uploads artifacts on a connection of its own.
pub(super) struct MavenUploader<'a> {
    repository: RepositoryClient,
    connection: RepositoryConnection,
    claims: &'a Claims,
    /// Whether a folder is one version, of which the repository takes all files or none.
    is_version: bool,
}

/// What happened to the files of a folder.
pub(super) struct FolderOutcome {
    /// The folder of their name: `org/example/lamp`.
    pub(super) name: Option<String>,
    pub(super) files: Vec<FileOutcome>,
    /// The repository that takes this version, where this one does not.
    pub(super) takes: Option<String>,
}

/// What a comparison with the server says about a file.
enum Compared {
    /// There is nothing to upload.
    Settled(FileOutcome),
    /// It is to be uploaded.
    Open {
        /// Whether the server has other bytes.
        differs: bool,
    },
}

/// What the server said about an upload.
enum Sent {
    Settled(FileOutcome),
    /// It refuses the version: it has other files of it, or takes no such versions.
    Version {
        reason: String,
        takes: Option<String>,
    },
}

impl<'a> MavenUploader<'a> {
    pub(super) fn new(repository: &RepositoryClient, claims: &'a Claims, paths: Paths) -> anyhow::Result<Self> {
        let is_version = paths != Paths::Raw;
        Ok(Self { repository: repository.clone(), connection: repository.connect()?, claims, is_version })
    }

    /// Uploads the files of a version that the server does not have, and calls `done` after each. Two builds are not mixed: if the server
    /// has a file with other bytes, nothing is uploaded. Fails where no other upload could succeed either.
    pub(super) fn folder(&mut self, folder: Vec<ArtifactFile>, done: &dyn Fn()) -> anyhow::Result<FolderOutcome> {
        let name = folder.first().map(|file| folder_of(&file.path).to_owned());
        let (mut files, mut open, mut takes, mut refuses) = (Vec::new(), Vec::new(), None, None);
        for artifact in folder {
            match self.compare(&artifact).with_context(|| not_uploaded(&artifact))? {
                Compared::Settled(outcome) => {
                    files.push(outcome);
                    done();
                }
                Compared::Open { differs } => open.push((differs, artifact)),
            }
        }
        // The server answers first whether it takes other bytes. The POM comes last, as it publishes the version.
        open.sort_by_key(|(differs, artifact)| (!differs, artifact.path.ends_with(".pom")));
        for (_, artifact) in open {
            let refused = |reason| FileOutcome::Refused { file: artifact.file.clone(), reason };
            files.push(match &refuses {
                Some(path) => refused(format!("not sent, because `{path}` of the same version was refused")),
                None => match self.send(&artifact).with_context(|| not_uploaded(&artifact))? {
                    Sent::Settled(outcome) => outcome,
                    Sent::Version { reason, takes: by } => {
                        takes = by;
                        refuses = self.is_version.then(|| artifact.path.clone());
                        refused(reason)
                    }
                },
            });
            done();
        }
        Ok(FolderOutcome { name, files, takes })
    }

    /// Compares a file with the checksums beside it, and with the server's.
    fn compare(&mut self, artifact: &ArtifactFile) -> anyhow::Result<Compared> {
        let sha1 = match verify(artifact, &open(artifact)?)? {
            Ok(sha1) => sha1,
            Err(reason) => {
                return Ok(Compared::Settled(FileOutcome::Refused { file: artifact.file.clone(), reason }));
            }
        };
        let present = self.connection.head(&path_of(artifact))?;
        // The checksum of a raw file is answered whether or not it is a file of its own.
        let there = checksum_of(&artifact.path).is_none() && present.status == StatusCode::OK;
        let Some(is) = present.headers.get("x-checksum-sha1").filter(|_| there) else {
            return Ok(Compared::Open { differs: false });
        };
        if *is != *sha1 {
            return Ok(Compared::Open { differs: true });
        }
        // Where there is no date, the same bytes again bring it.
        Ok(match self.origin_there(&present, artifact.published) {
            Some(origin) => Compared::Settled(FileOutcome::Present(origin)),
            None => Compared::Open { differs: false },
        })
    }

    fn send(&mut self, artifact: &ArtifactFile) -> anyhow::Result<Sent> {
        let (connection, file, path) = (&mut self.connection, Arc::new(open(artifact)?), path_of(artifact));
        let send = |headers| connection.put(&path, headers, Content::File(file.clone()));
        let (answer, origin) = self.claims.send(artifact.published, send, |answer| answer.status)?;
        match answer.status {
            StatusCode::CREATED => Ok(Sent::Settled(FileOutcome::Uploaded { origin, notice: None })),
            status if status.is_success() => Ok(Sent::Settled(FileOutcome::Present(origin))),
            StatusCode::CONFLICT => Ok(Sent::Version { reason: message(&answer), takes: None }),
            status if FileOutcome::is_about_the_file(status) => Ok(elsewhere(&answer).unwrap_or_else(|| {
                Sent::Settled(FileOutcome::Refused { file: artifact.file.clone(), reason: message(&answer) })
            })),
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

fn not_uploaded(artifact: &ArtifactFile) -> String {
    format!("`{}` was not uploaded", artifact.path)
}

fn open(artifact: &ArtifactFile) -> anyhow::Result<File> {
    File::open(&artifact.file).with_context(|| format!("cannot read `{}`", artifact.file.display()))
}

fn path_of(artifact: &ArtifactFile) -> String {
    artifact.path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

/// The refusal of a version that another repository takes. The hint of the server is about a deploy, not about an import.
fn elsewhere(answer: &Response) -> Option<Sent> {
    let problem: Value = serde_json::from_slice(&answer.body).ok()?;
    let is_version = problem["type"].as_str()?.ends_with("#version_refused");
    let reason = message(answer);
    let reason = reason.split("; hint: ").next().unwrap_or_default().to_owned();
    is_version.then(|| Sent::Version { reason, takes: problem["repository"].as_str().map(plain) })
}
