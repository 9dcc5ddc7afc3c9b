//! Policies: which versions of a repository are visible, which names are private, and why something is hidden.
//!
//! In reading order: [`named`] is the input of a policy, [`pattern`] and [`prefix`] are the names in a setting,
//! [`rules`] decides, [`hidden`] has the reason in words, and [`settle`] checks the settings.

pub(crate) mod hidden;
pub(crate) mod hidden_hosted;
pub(crate) mod package_version;
pub(crate) mod pattern;
pub(crate) mod prefix;
pub(crate) mod rules;
pub(crate) mod settle;
pub(crate) mod share_command;
pub(crate) mod unseen;
