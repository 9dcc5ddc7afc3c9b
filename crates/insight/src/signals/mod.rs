//! What findings read: the figures of the last minutes, by what they are about.
//!
//! A census adds every finished event to a window of figures, and a thread samples bounds, pools and the machine. Both are summed up
//! into windows of five minutes, an hour and a day. A window is plain data, so a test makes one by hand. Time is that of the monotonic
//! clock here; only [`Seen::now`] is the settable time of day.

pub(crate) mod bounds;
pub(crate) mod caches;
pub(crate) mod call_limits;
pub(crate) mod causes;
pub(crate) mod census;
pub(crate) mod clients;
pub(crate) mod concurrency;
pub(crate) mod database;
pub(crate) mod facts;
pub(crate) mod hosts;
pub(crate) mod jobs;
pub(crate) mod lost_packets;
pub(crate) mod machine;
pub(crate) mod members;
pub(crate) mod normal;
pub(crate) mod ops;
pub(crate) mod outside;
pub(crate) mod pools;
pub(crate) mod prefixes;
pub(crate) mod program;
pub(crate) mod reasons;
pub(crate) mod repositories;
mod request_kinds;
pub(crate) mod requests;
pub(crate) mod ring;
pub(crate) mod sampler;
pub(crate) mod seen;
pub(crate) mod serial;
pub(crate) mod sketch;
mod sliding;
pub(crate) mod telemetry;
pub(crate) mod trends;
mod waits;
pub(crate) mod watch;
pub(crate) mod window;
pub(crate) mod worst;

pub(crate) use facts::Facts;
