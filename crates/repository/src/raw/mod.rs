//! The raw format: a tree of files without further meaning.

pub(crate) mod face;
pub(crate) mod hinted;
pub(crate) mod layout;
pub(crate) mod query;
pub(crate) mod rules;
pub(crate) mod tree_path;
