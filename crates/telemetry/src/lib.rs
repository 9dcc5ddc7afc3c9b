//! What Daylight records about itself: events, counters, bounds and logs.
//!
//! Every request and every background job has one wide [`Event`]. Code that does a piece of work adds it to the event
//! ([`Event::add`]). The event is passed to [`Recorder::release`] after the last byte of the reply was sent. There it is
//! counted exactly, in one short critical section on a shard that only this thread uses. Storing and logging happen on
//! threads of their own.
//!
//! This crate imports no other crate of the workspace, never blocks its caller and never fails.

mod background;
mod bound;
mod clock;
mod durations;
mod event;
mod event_id;
mod histogram;
mod json;
mod keyed_bound;
mod lines;
pub mod log;
mod loop_monitor;
mod metric;
mod metrics_view;
mod op;
mod outcome;
mod packed_events;
mod process;
mod prometheus;
mod recent_events;
mod recorder;
mod repository_counts;
mod scrub;
mod shard;
mod sink;
mod sink_worker;
mod starvation;
mod text;
mod totals;
mod unit;
mod upstream_calls;

pub use background::{background, give_way};
pub use bound::{Bound, BoundName, Full, Slot, Waiting};
pub use clock::{Clock, Millis, Tick};
pub use event::{Event, Kind, Layer, MemberRecord, MemberSaid, Subject, Tally};
pub use event_id::EventId;
pub use histogram::{Bucket, Histogram};
pub use keyed_bound::{KeyedBound, KeyedSlot};
pub use lines::{Lines, LinesOptions, Lost, Target};
pub use log::Log;
pub use loop_monitor::{Blocked, LoopMonitor, arrived, turn};
pub use metric::{By, Fold, Metric, MetricKind};
pub use metrics_view::{HostView, MetricsView, RepositoryView};
pub use op::Op;
pub use outcome::{Outcome, Reason};
pub use recent_events::RecentEvents;
pub use recorder::{Recorder, RecorderOptions};
pub use sink::{JsonLines, Sink};
pub use sink_worker::Marker;
pub use text::Text;
pub use totals::{Counter, SinkTotals, Totals};
pub use unit::Unit;
pub use upstream_calls::UpstreamCalls;
