//! Bodies that wait for their reader: in memory first, then in anonymous files, so that a backend never waits for a client.

mod anonymous_file;
mod queue;
mod room;
mod upload;

pub(crate) use queue::{Broken, Copying, Queue, QueueReader};
pub(crate) use room::Spool;
pub(crate) use upload::{NotSpooled, SpooledUpload};
