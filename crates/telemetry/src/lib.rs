//! What Daylight records about itself: events, counters, bounds and logs.
//!
//! Every request and every background job has one wide [`Event`]. Code that does a piece of work adds it to the event
//! ([`Event::add`]). The event is passed to [`Recorder::release`] after the last byte of the reply was sent. There it is
//! counted exactly, in one short critical section on a shard that only this thread uses. Storing and logging happen on
//! threads of their own.
//!
//! This crate imports no other crate of the workspace, never blocks its caller and never fails.

mod bounds;
mod clock;
mod closed_list;
mod counts;
mod event;
mod histogram;
mod lock;
pub mod log;
mod machine;
mod ops;
mod prometheus;
mod recorder;
mod threads;

pub use bounds::cache_counts::{CacheCounts, Miss};
pub use bounds::cache_name::CacheName;
pub use bounds::keyed_bound::{KeyedBound, KeyedSlot};
pub use bounds::unit::Unit;
pub use bounds::{Bound, BoundName, Full, Slot, Waiting};
pub use clock::{Clock, Millis, Tick};
pub use counts::koji_calls::KojiCalls;
pub use counts::upstream_calls::{CallSums, RecentCalls, UpstreamCalls};
pub use counts::{CensusTotals, Counter, LostEvents, SinkTotals, Totals};
pub use event::agent::Agent;
pub use event::class::Class;
pub use event::client_addresses::ClientAddresses;
pub use event::id::EventId;
pub use event::member::{MemberRecord, MemberSaid};
pub use event::more::{AppUse, JobMemory, More, Trace};
pub use event::outcome::{Outcome, Reason};
pub use event::page_outcome::PageOutcome;
pub use event::sampling::{Because, SamplingDecision};
pub use event::text::Text;
pub use event::upstream_use::{ClosedBy, UpstreamUse};
pub use event::{Event, Kind, Layer, Subject};
pub use histogram::{Bucket, Histogram};
pub use lock::lock;
pub use log::Log;
pub use log::lines::{Lines, LinesOptions, Lost, Target};
pub use log::scrub::is_unseen;
pub use machine::process::{ProcessFigures, ThreadState, process_nanos, resident_bytes, thread_nanos};
pub use machine::{
    CgroupCpu, CgroupMemory, MachineMonitor, MachineSample, Pressure, Pressures, Stall, System, ThreadFigures,
    cgroup_memory_limit,
};
pub use ops::open_requests::{
    OldestRequests, OpenRequest, OpenRequestFacts, OpenRequestGlance, OpenRequestView, OpenRequests,
};
pub use ops::running_op::RunningOp;
pub use ops::runs::RunsSoFar;
pub use ops::under_way::{OpsUnderWay, UnderWay, under_way};
pub use ops::{Op, OpPlace, Tally};
pub use prometheus::metric::{By, Fold, Metric, MetricKind};
pub use prometheus::metrics_view::{HostView, MetricsView, OpenFinding, RepositoryView};
pub use prometheus::values::{MetricFamily, MetricPoint, MetricValue};
pub use recorder::census::Census;
pub use recorder::glance::{Figures, Glance};
pub use recorder::job::Job;
pub use recorder::probes::Probes;
pub use recorder::recent_events::RecentEvents;
pub use recorder::running_jobs::RunningJob;
pub use recorder::sink::{JsonLines, Sink};
pub use recorder::sink_worker::{Marker, panic_message};
pub use recorder::{Recorder, RecorderOptions};
pub use threads::background::{background, give_way};
pub use threads::core_load::{Arrival, arrive, leave};
pub use threads::long_job::{LongJob, LongJobView};
pub use threads::loop_blocks::{Blocked, LoopBlocked, LoopBlocks};
pub use threads::loop_monitor::{LoopMonitor, arrived, turn};
pub use threads::pool_threads::{PoolName, PoolThreads, Work, Working};
pub use threads::register::{WorkUnderWay, works_at, works_for, works_in};
