//! The build system Koji as a source of Maven artifacts: its protocol, XML-RPC, as pure functions.
//!
//! In reading order: [`question`] has the calls and [`answer`] their answers, as Koji's hub gives them; [`model`] has
//! the values that both are made of.

pub mod answer;
pub mod model;
pub mod question;
