//! What of a repository may be seen, whose names are whose, and why something is hidden.
//!
//! In reading order: [`named`] says what something is, [`pattern`] and [`prefix`] which names a setting means, [`rules`] what they come
//! to, [`hidden`] how that is told; [`settle`] is what such settings may be.

pub(crate) mod hidden;
pub(crate) mod named;
pub(crate) mod pattern;
pub(crate) mod prefix;
pub(crate) mod rules;
pub(crate) mod settle;
