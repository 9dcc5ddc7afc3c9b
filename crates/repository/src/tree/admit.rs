//! What is refused of an upload before a byte of it is asked for.

use crate::actor::Actor;
use crate::error::Error;
use crate::maven::version_policy::VersionPolicy;
use crate::policy::named::{Named, Since};
use crate::repository::Repository;
use crate::tree::place;
use crate::tree::place::Place;
use format::maven::path::Kind;

/// Refuses what can never be published at `path`, or not by them.
pub(crate) fn admit(repository: &Repository, path: &str, by: Actor<'_>) -> Result<(), Error> {
    place::may_change(repository, path, by)?;
    let named = Named::file(repository.format, path, Since::Always);
    if let Some(why) = named.and_then(|named| repository.rules.forbids(&named)) {
        return Err(why.into());
    }
    match place::read(repository.format, path) {
        None => Err(Error::NotInLayout(path.to_owned())),
        Some(Place::Checksum(file, _)) => match place::read(repository.format, file) {
            Some(Place::File(file)) => takes(repository, file),
            Some(Place::Made(Kind::Metadata(_))) => Ok(()),
            _ => Err(Error::MadeHere(path.to_owned())),
        },
        Some(Place::File(file)) => takes(repository, file),
        Some(Place::Made(Kind::Metadata(_))) => Ok(()),
        Some(Place::Made(_)) => Err(Error::MadeHere(path.to_owned())),
    }
}

fn takes(repository: &Repository, file: place::File<'_>) -> Result<(), Error> {
    let Some(artifact) = file.artifact else { return Ok(()) };
    let policy = VersionPolicy::of(&repository.record);
    match policy.takes(artifact.snapshot()) {
        true => Ok(()),
        false => Err(Error::VersionRefused { version: artifact.version.to_owned(), policy }),
    }
}
