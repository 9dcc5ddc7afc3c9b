//! The build system Koji as a source of Maven artifacts: its protocol, XML-RPC, as pure functions.
//!
//! In reading order: [`question`] has the calls and [`answer`] their answers, as Koji's hub gives them; [`model`] has
//! the values that both are made of. [`request`] writes questions. [`reading`] reads answers as they arrive: `xml` cuts
//! the pieces, `rpc` finds the values in them, `row` collects the members of a struct, and `typed` makes a value of it.
//! [`left_out`] has the rules of what no repository has, and [`url`] the place of a file.

pub mod answer;
pub mod left_out;
pub mod model;
pub mod question;
pub mod reading;
pub mod request;
mod row;
mod rpc;
mod typed;
pub mod unreadable;
pub mod url;
mod xml;

#[cfg(test)]
mod tests;
