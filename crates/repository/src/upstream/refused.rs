//! Paths that no upstream is asked for, so that nobody there learns that somebody wants them: those that policy hides whatever their
//! age, and those that the upstream may read as others than they are here.

use crate::error::Error;
use crate::repository::Repository;
use crate::tree::file::File;
use format::tree;

/// Why the upstream is not asked for the file; `None`: it may be.
pub(crate) fn never_asked(repository: &Repository, file: &File<'_>) -> Option<Error> {
    // Without any policy, too: there may be others' folders beside the upstream's, and it is shown credentials.
    if tree::may_leave_its_folder(file.path) || file.cannot_exist() {
        return Some(Error::NoSuchFile(file.path.to_owned()));
    }
    match repository.rules.is_open() {
        true => None,
        false => file.hidden_at_any_age(&repository.rules).map(Error::from),
    }
}
