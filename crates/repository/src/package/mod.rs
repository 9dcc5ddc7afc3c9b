//! The packages of a repository as people look at them: each version, whether clients get it, and if not, why.
//!
//! The formats make the rows (`gem/packages.rs`, `maven/packages.rs`) from the rows and rules that clients' answers are made from, and
//! no upstream is called. `repositories/packages.rs` dispatches.

pub(crate) mod details;
pub(crate) mod listed;
pub(crate) mod published;
pub(crate) mod rows;
pub(crate) mod standing;
