//! What Daylight records about itself: events, counters, bounds and logs.
//!
//! Every request and every background job has one wide [`Event`]. Code that does a piece of work adds it to the event
//! ([`Event::add`]). The event is passed to [`Recorder::release`] after the last byte of the reply was sent. There it is
//! counted exactly, in one short critical section on a shard that only this thread uses. Storing and logging happen on
//! threads of their own.
//!
//! This crate imports no other crate of the workspace, never blocks its caller and never fails.

mod agent;
mod background;
mod beside;
mod bound;
mod cache_counts;
mod cache_name;
mod census;
mod class;
mod client_addresses;
mod clock;
mod collector;
mod core_load;
mod durations;
mod event;
mod event_calls;
mod event_id;
mod gauge;
mod gauges;
mod glance;
mod histogram;
mod job;
mod json;
mod kept;
mod kernel_text;
mod keyed_bound;
mod lines;
pub mod log;
mod loop_monitor;
mod machine;
mod metric;
mod metrics_view;
mod more;
mod op;
mod open_requests;
mod outcome;
mod packed_events;
mod pool_threads;
mod process;
mod process_memory;
mod prometheus;
mod recent;
mod recent_events;
mod recorder;
mod repository_counts;
mod repository_times;
mod request_counts;
mod running_op;
mod scrapes;
mod scrub;
mod shard;
mod sink;
mod sink_worker;
mod starvation;
mod tally;
mod text;
mod totals;
mod under_way;
mod unit;
mod unseen;
mod upstream_calls;
mod upstream_use;
mod upstream_waits;
mod vain;

pub use agent::Agent;
pub use background::{background, give_way};
pub use bound::{Bound, BoundName, Full, Slot, Waiting};
pub use cache_counts::{CacheCounts, Miss};
pub use cache_name::CacheName;
pub use census::Census;
pub use class::Class;
pub use client_addresses::ClientAddresses;
pub use clock::{Clock, Millis, Tick};
pub use core_load::{Arrival, arrive, leave};
pub use event::{Event, Kind, Layer, MemberRecord, MemberSaid, Subject};
pub use event_id::EventId;
pub use glance::{Figures, Glance};
pub use histogram::{Bucket, Histogram};
pub use job::Job;
pub use kept::{Because, Kept};
pub use keyed_bound::{KeyedBound, KeyedSlot};
pub use lines::{Lines, LinesOptions, Lost, Target};
pub use log::Log;
pub use loop_monitor::{Blocked, LoopMonitor, arrived, turn};
pub use machine::{
    CgroupCpu, CgroupMemory, MachineMonitor, MachineSample, Pressure, Pressures, Stall, System, ThreadFigures,
    cgroup_memory_limit,
};
pub use metric::{By, Fold, Metric, MetricKind};
pub use metrics_view::{HostView, MetricsView, RepositoryView};
pub use more::{JobMemory, More, Trace};
pub use op::{Op, OpPlace};
pub use open_requests::{OldestRequests, OpenRequest, OpenRequestFacts, OpenRequestView, OpenRequests};
pub use outcome::{Outcome, Reason};
pub use pool_threads::{PoolName, PoolThreads, Work, Working};
pub use process::{ProcessFigures, thread_nanos};
pub use recent_events::RecentEvents;
pub use recorder::{Recorder, RecorderOptions};
pub use running_op::RunningOp;
pub use sink::{JsonLines, Sink};
pub use sink_worker::Marker;
pub use tally::Tally;
pub use text::Text;
pub use totals::{CensusTotals, Counter, SinkTotals, Totals};
pub use under_way::{OpsUnderWay, UnderWay, under_way};
pub use unit::Unit;
pub use unseen::is_unseen;
pub use upstream_calls::{RecentCalls, UpstreamCalls};
pub use upstream_use::{ClosedBy, UpstreamUse};
pub use vain::RunsSoFar;
