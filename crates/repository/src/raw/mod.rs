//! The raw format: a tree of files and no more.

pub(crate) mod question;
pub(crate) mod rules;

pub(crate) use question::Question;
