//! What of a repository may be seen, whose names are whose, and why something is hidden.
//!
//! In reading order: [`named`] says what something is, [`pattern`] and [`prefix`] which names a setting means, [`rules`] what they come
//! to, [`hidden`] how that is told; [`settle`] is what such settings may be.

mod hidden;
mod named;
mod pattern;
mod prefix;
mod rules;
mod settle;

pub use hidden::{Hidden, Why};
pub use named::{Named, Since};
pub(crate) use rules::OPEN;
pub use rules::Rules;
pub(crate) use settle::settle;
