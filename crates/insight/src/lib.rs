//! Stores events for weeks, and answers questions about them.
//!
//! An event becomes a row of coded columns ([`Column`]). The newest rows are in memory and in a log; older ones are in segments, which are
//! Parquet files. Questions read both through [`Part`], column by column, and never see a row.

mod ask;
mod block;
mod column;
mod disk;
mod event_json;
mod findings;
mod hash;
mod insight;
mod interner;
mod log;
mod memtable;
mod normal;
mod options;
mod part;
mod profile;
mod random;
mod reuse;
mod rollup;
mod row;
#[cfg(test)]
mod sample;
mod sampler;
pub mod segment;
mod signals;
mod sizing;
mod state_file;
mod store;
mod tail;
mod texts;
mod varint;
mod watch;

pub use ask::{
    Answer, Asked, Asker, AskerOptions, Caller, Compare, Compared, Cost, Figure, Filter, Is, Key, Measure, Merged,
    Mistake, NodeAnswer, NotAnswered, NotMerged, Order, Parts, QUESTION_BYTES_MAX, Question, RollupSource, Seen, Side,
    Step, Value, read_moment,
};
pub use block::Block;
pub use column::{Cell, Column, ColumnKind, LINE};
pub use findings::{
    CacheCurve, Change, CheckAbout, CurveNow, CurveSize, CustomFinding, FactLevel, FactLevels, Finding, FindingKind,
    FindingState, Findings, FindingsOptions, FindingsOverview, Guard, Mute, NotCustom, Promise, PromiseState,
    Threshold, check_list,
};
pub use insight::{Counts, Insight};
pub use log::{Log, Recovered};
pub use memtable::Memtable;
pub use normal::{Baseline, BaselineClass, BaselineDifference, NotCompared, Ratio, RatioPair};
pub use options::{AboveFloor, FactsOf, InsightOptions, Surroundings};
pub use part::{Aggregated, Coded, Part, Span, Unreadable};
pub use profile::{Profile, Profiler, Stack};
pub use rollup::{Buckets, RollupOptions, RollupScan, Rollups};
pub use row::{RepositoryFacts, Row};
pub use sampler::{Budget, Goal, Sampler};
pub use segment::Segment;
pub use signals::facts::{Facts, HostFact, RepositoryFact, SettingFact};
pub use signals::program::{
    CertificateFact, DiskFact, HooksFact, IndexFact, ProgramFacts, ReadOnlyFact, ReceiverFact, RenewalFact,
    WaitingNamesFact,
};
pub use signals::watch::{LoopSeen, PreviousRun, ProbeSeen, Stuck, WatchSeen};
pub use sizing::{Sizing, SizingAdvice, SizingAsked, SizingRow, SizingVerdict};
pub use state_file::StateFile;
pub use tail::{Listener, NoPlace, Tail};
pub use texts::Texts;
pub use watch::{AskSelf, TellSeen, Watch, WatchOptions};
