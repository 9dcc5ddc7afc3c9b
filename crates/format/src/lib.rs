//! What package formats say, as pure functions: bytes and rows in, bytes out.
//!
//! A format reads a path into a [question](gem::path::Question), takes the facts out of an upload, and renders what
//! clients fetch. It does no I/O beyond reading the upload it is given, knows no clock (time is an argument), and
//! never sees a socket or a repository. Everything that comes in was written by a stranger: every size has a limit.

pub mod gem;
pub mod maven;
pub mod percent;
pub mod tree;
