//! A hosted repository that is a tree of files: the key of an entry is its path, and its unit the folder that it is in.

mod admit;
mod deploy;
mod fetch;
mod folder;
mod listing;
mod made;
mod place;
mod remove;
mod restore;

pub(crate) use admit::admit;
pub(crate) use deploy::deploy;
pub(crate) use fetch::fetch;
pub(crate) use remove::remove;
pub use restore::UNDO_DAYS;
pub(crate) use restore::restore;

/// How often a change that lost a race tries again. Each lost race means that another change of the same folder won.
const TRIES: usize = 100;
