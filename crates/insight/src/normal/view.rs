//! What checks read about normal: for each subject the usual times of this hour, and the last minutes beside them.

use std::collections::HashMap;
use telemetry::{Class, Layer, Op};

/// What a baseline is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// Requests of a cost class, without answers from memory: the time until their first byte, less that of their upload.
    Class(Class),
    /// Requests that a layer answered: hosted, remote or group. The same time.
    Layer(Layer),
    /// An operation: its time in a request.
    Op(Op),
    /// A host of upstreams, as `name:port`: the time until the head of a response.
    Upstream(Box<str>),
}

/// The usual times. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Normal {
    /// Half of the times are at most this.
    pub(crate) median: f64,
    /// 95 of 100 times are at most this.
    pub(crate) p95: f64,
    /// The mean.
    pub(crate) mean: f64,
    /// How much the medians of minutes differ: the standard deviation of their natural logarithms. 0.1 is about a tenth.
    pub(crate) spread: f64,
    /// How many times it comes from. Older weeks count in part.
    pub(crate) n: f64,
}

/// One of the last minutes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct MinuteOf {
    /// The number of times.
    pub(crate) n: u64,
    /// Half of the times are at most this, in nanoseconds.
    pub(crate) median: f64,
    /// The sum of the times, in nanoseconds.
    pub(crate) sum: f64,
}

/// What checks read about normal.
#[derive(Debug, Clone, Default)]
pub(crate) struct NormalView {
    /// How many hours of data there are. Below [`NormalView::NEEDED_HOURS`] nothing is normal yet.
    pub(crate) hours: u64,
    /// The usual times of this hour. The last minutes are not in them.
    pub(crate) normal: HashMap<Key, Normal>,
    /// The last ten minutes, the newest last.
    pub(crate) minutes: Vec<HashMap<Key, MinuteOf>>,
}

impl NormalView {
    /// Hours of data until anything is normal.
    pub(crate) const NEEDED_HOURS: u64 = 24;
    /// Hours of data until hours of the week are told apart.
    pub(crate) const WEEK_HOURS: u64 = 7 * 24;

    /// The usual times of this hour. `None`: there is not enough data yet, or it had not happened at this hour.
    pub(crate) fn expects(&self, key: &Key) -> Option<Normal> {
        self.normal.get(key).copied().filter(|_| self.hours >= Self::NEEDED_HOURS)
    }

    /// The last ten minutes of a subject, the newest last.
    pub(crate) fn minutes_of(&self, key: &Key) -> impl Iterator<Item = MinuteOf> {
        self.minutes.iter().map(move |minute| minute.get(key).copied().unwrap_or_default())
    }
}
