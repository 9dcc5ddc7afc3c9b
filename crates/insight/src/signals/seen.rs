//! Everything that a check may read. It is plain data.

use super::facts::Facts;
use super::trends::Trends;
use super::watch::WatchSeen;
use super::window::Window;
use crate::normal::view::NormalView;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{MachineSample, Millis};

/// Everything that a check may read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// The time of day, which may be set.
    pub(crate) now: Millis,
    /// How long the server has run, by the monotonic clock.
    pub(crate) uptime: Duration,
    /// The last five minutes.
    pub(crate) recent: Window,
    /// The last hour.
    pub(crate) hour: Window,
    /// The last day.
    pub(crate) day: Window,
    /// What the program told about settings, repositories and upstreams.
    pub(crate) facts: Arc<Facts>,
    /// The last sample of the machine.
    pub(crate) machine: Option<Arc<MachineSample>>,
    /// What the watch found.
    pub(crate) watch: WatchSeen,
    /// The usual times of this hour.
    pub(crate) normal: Arc<NormalView>,
    /// Series over the last day.
    pub(crate) trends: Trends,
}
