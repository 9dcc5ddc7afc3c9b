//! The package formats as pure functions: bytes and rows in, bytes out.
//!
//! A format reads a path into a [question](gem::path::Question), extracts the facts from an upload, and renders the
//! documents that clients fetch. It does no I/O beyond reading the upload it is given, has no clock (time is an
//! argument), and no access to sockets or repositories. All input is untrusted, so every size has a limit.

pub mod gem;
pub mod koji;
pub mod maven;
pub mod page;
pub mod percent;
pub mod shell;
pub mod tree;
