//! Paths for which no upstream is called, so that the upstream does not learn that somebody wants them: paths that a
//! policy hides regardless of age, and paths that the upstream may read in another way than we do.

use crate::error::Error;
use crate::repository::Repository;
use crate::tree::file::File;
use format::tree;

/// Why the upstream is not called for the file; `None`: it may be called.
pub(crate) fn never_asked(repository: &Repository, file: &File<'_>) -> Option<Error> {
    // This applies without a policy too: the folders beside the upstream's may belong to others, and the request
    // carries credentials.
    if tree::may_leave_its_folder(file.facts().without_query) || file.cannot_exist() {
        return Some(Error::NoSuchFile(file.path.to_owned()));
    }
    match repository.rules.is_open() {
        true => None,
        false => file.hidden_at_any_age(&repository.rules).map(Error::from),
    }
}
