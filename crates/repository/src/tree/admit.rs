//! Refuses an upload before its body is read.

use crate::actor::Actor;
use crate::error::refused_upload::RefusedUpload;
use crate::error::{Error, Result};
use crate::policy::package_version::Since;
use crate::repository::Repository;
use crate::tree::facts::Provenance;
use crate::tree::file::File;
use format::tree;

/// Refuses an upload that can never be published at the path of `file`, or not by this caller.
pub(crate) fn admit(repository: &Repository, file: &File<'_>, by: Actor<'_>) -> Result<()> {
    may_change(file, by)?;
    if let Some(right) = tree::without_parameters(file.path) {
        return Err(RefusedUpload::Parameters { path: file.path.to_owned(), right }.into());
    }
    if let Some(name) = file.placeholder() {
        return Err(RefusedUpload::Placeholder { name: name.to_owned() }.into());
    }
    if let Some(why) = file.named(Since::Always).and_then(|named| repository.rules.forbids(&named)) {
        return Err(why.into());
    }
    file.check_layout(&repository.record)?;
    let of = match file.provenance() {
        None => return Err(Error::NotInLayout(file.path.to_owned())),
        Some(Provenance::ChecksumOf(of, _)) => file.at(of),
        Some(Provenance::Uploaded | Provenance::Generated) => *file,
    };
    match of.provenance() {
        Some(Provenance::Uploaded) => of.check_version(&repository.record),
        Some(Provenance::Generated) if of.is_metadata() => Ok(()),
        Some(Provenance::Generated | Provenance::ChecksumOf(..)) | None => Err(Error::MadeHere(file.path.to_owned())),
    }
}

/// Refuses a change that the token is not for. A token for `org.example:lamp`, or for `org.example`, may change
/// everything below the folder of that name.
pub(crate) fn may_change(file: &File<'_>, by: Actor<'_>) -> Result<()> {
    match by.only.filter(|only| !file.is_below_package(only)) {
        Some(only) => Err(Error::NotForToken { token: by.name.to_owned(), package: only.to_owned() }),
        None => Ok(()),
    }
}

impl Repository {
    /// Whether its version policy takes what would be published at a path, as far as the path tells.
    pub fn takes_version_at(&self, path: &str) -> bool {
        !self.format.rules().is_tree() || File::read(self.format, path).check_version(&self.record).is_ok()
    }
}
