//! The surroundings of a command.

use crate::config::Environment;
use std::io::Write;

/// The environment that a command reads, and the streams that it writes to.
pub(super) struct Context<'a> {
    pub(super) environment: &'a Environment,
    pub(super) out: &'a mut dyn Write,
    pub(super) err: &'a mut dyn Write,
}
