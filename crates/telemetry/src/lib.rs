//! What Daylight records about itself, and how, at a cost nobody notices.
//!
//! Every request and every background job makes one wide [`Event`]. Whoever does a piece of work
//! notes it there ([`Event::add`]); the event is handed to [`Recorder::release`] after the last byte
//! of the reply has left. Counting is exact and happens then, in one short critical section on a
//! shard that only this thread uses; storing and logging happen on threads of their own.
//!
//! This crate imports nothing of ours, never blocks its caller and never fails.

mod background;
mod bound;
mod clock;
mod desk;
mod event;
mod event_id;
mod histogram;
mod json;
mod keyed;
mod lines;
pub mod log;
mod op;
mod outcome;
mod packed;
mod prometheus;
mod pulse;
mod recent;
mod recorder;
mod scrub;
mod shard;
mod sink;
mod starved;
mod text;
mod totals;

pub use background::{background, give_way};
pub use bound::{Bound, BoundName, Full, Slot, Waiting};
pub use clock::{Clock, Millis, Tick};
pub use event::{Event, Kind, Layer, MemberRecord, MemberSaid, Subject, Tally};
pub use event_id::EventId;
pub use histogram::{Bucket, Histogram};
pub use keyed::{KeyedBound, KeyedSlot};
pub use lines::{Lines, LinesOptions, Lost, Target};
pub use log::Log;
pub use op::Op;
pub use outcome::{Outcome, Reason};
pub use pulse::{Blocked, Pulse, arrived, turn};
pub use recent::Recent;
pub use recorder::{Marker, Recorder, RecorderOptions};
pub use sink::{JsonLines, Sink};
pub use text::Text;
pub use totals::{Counter, SinkTotals, Totals};
