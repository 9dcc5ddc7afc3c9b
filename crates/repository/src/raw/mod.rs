//! The raw format: a tree of files without further meaning.

pub(crate) mod face;
pub(crate) mod guard;
pub(crate) mod hidden_paths;
pub(crate) mod hinted;
pub(crate) mod layout;
pub(crate) mod past;
pub(crate) mod query;
pub(crate) mod rules;
