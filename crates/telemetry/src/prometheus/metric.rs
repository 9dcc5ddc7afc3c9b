//! A figure outside of the fixed lists: its name, its type, and how it is read.

/// The name, the type and the description of a figure in metrics.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// The name without `daylight_`. The name of a counter ends in `_total`, other names end in their unit, if there is one.
    pub name: &'static str,
    /// Gauge or counter.
    pub kind: MetricKind,
    /// A description for people.
    pub doc: &'static str,
}

crate::closed_list! {
    /// The type of a figure.
    pub enum MetricKind {
        /// It goes up and down.
        Gauge = "gauge",
        /// It only goes up while the server runs.
        Counter = "counter",
    }
}

impl Metric {
    /// A figure that goes up and down.
    pub const fn gauge(name: &'static str, doc: &'static str) -> Self {
        Self { name, kind: MetricKind::Gauge, doc }
    }

    /// A figure that only goes up while the server runs. `name` ends in `_total`.
    pub const fn counter(name: &'static str, doc: &'static str) -> Self {
        Self { name, kind: MetricKind::Counter, doc }
    }
}

/// How the figures of several repositories are combined into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Their sum.
    Sum,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

impl Fold {
    pub(crate) fn apply(self, one: f64, other: f64) -> f64 {
        match self {
            Fold::Sum => one + other,
            Fold::Max => one.max(other),
            Fold::Min => one.min(other),
        }
    }
}

/// The subject of a metric's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Public things, by the label of this name.
    Label(&'static str),
    /// Repositories. Repositories without a line of their own share one.
    Repository(Fold),
}
