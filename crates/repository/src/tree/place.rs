//! What a path is to the format of a repository: a file that is published there, the checksum of one, or a document that
//! is made from them.

use crate::actor::Actor;
use crate::error::Error;
use crate::format::Format;
use crate::maven::listing_changes::PomListings;
use crate::repository::Repository;
use format::maven::path::{self, Artifact, Kind};
use format::tree::Checksum;
use serde_json::{Value, json};

/// What a path is.
#[derive(Debug)]
pub(crate) enum Place<'a> {
    /// A file that somebody publishes.
    File(File<'a>),
    /// The checksum of what is at this path.
    Checksum(&'a str, Checksum),
    /// A document that is made here.
    Made(Kind<'a>),
}

/// A file that somebody publishes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct File<'a> {
    /// Its path.
    pub(crate) path: &'a str,
    /// What it is a part of, in a repository of Maven's.
    pub(crate) artifact: Option<Artifact<'a>>,
}

/// Reads a path. `None`: the repository's format has no such file.
pub(crate) fn read(format: Format, path: &str) -> Option<Place<'_>> {
    if format != Format::Maven {
        // Checksums are files like others there: what tools write beside a file, or as one, is theirs to say.
        return Some(Place::File(File { path, artifact: None }));
    }
    let read = path::read(path)?;
    Some(match (read.checksum, read.kind) {
        (Some(checksum), _) => Place::Checksum(read.file, checksum),
        (None, Kind::Artifact(artifact)) => Place::File(File { path, artifact: Some(artifact) }),
        (None, Kind::Index) => return None,
        (None, made) => Place::Made(made),
    })
}

impl<'a> File<'a> {
    /// Whether it will never have other bytes.
    pub(crate) fn lasting(&self, repository: &Repository) -> bool {
        !repository.record.replaceable
            && self.artifact.is_none_or(|artifact| !artifact.snapshot() || artifact.build.is_some())
    }

    /// The artifact whose POM it is.
    pub(crate) fn pom(&self) -> Option<Artifact<'a>> {
        self.artifact.filter(|artifact| artifact.classifier.is_none() && artifact.extension == "pom")
    }

    /// What the journal says of it beside its bytes, and beside what a POM lists.
    pub(crate) fn facts(&self, lists: Option<&PomListings>) -> Result<Value, Error> {
        let Some(artifact) = self.artifact else { return Ok(Value::Null) };
        let mut facts = json!({
            "group": artifact.group_id(),
            "artifact": artifact.artifact,
            "version": artifact.version,
            "classifier": artifact.classifier,
            "extension": artifact.extension,
        });
        if let Some(lists) = lists.filter(|lists| **lists != PomListings::default()) {
            let lists = serde_json::to_value(lists);
            facts["lists"] = lists.map_err(|source| Error::Unreadable { key: self.path.to_owned(), source })?;
        }
        Ok(facts)
    }
}

/// Refuses a change that the token is not for. One that is for `org.example:lamp`, or for `org.example`, may change what is below
/// the folder of that.
pub(crate) fn may_change(repository: &Repository, path: &str, by: Actor<'_>) -> Result<(), Error> {
    let Some(only) = by.only else { return Ok(()) };
    let folder = match (repository.format, only.split_once(':')) {
        (Format::Maven, Some((group, artifact))) => format!("{}/{artifact}", group.replace('.', "/")),
        (Format::Maven, None) => only.replace('.', "/"),
        _ => only.to_owned(),
    };
    match path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
        true => Ok(()),
        false => Err(Error::NotForToken { token: by.name.to_owned(), package: only.to_owned() }),
    }
}
