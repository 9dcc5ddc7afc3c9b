//! A question, checked: every column exists, every value fits its column, and every number is within its limit.

use crate::column::Column;
use telemetry::Millis;

/// A question about stored events.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Events that began at this moment or later.
    pub from: Millis,
    /// Events that began before this moment.
    pub to: Millis,
    /// The events that count.
    pub filter: Filter,
    /// The columns by which events are grouped, at most [`Question::KEYS_MAX`]. Without one, all events have one row.
    pub by: Vec<Key>,
    /// The measures of each row of the answer, at least one.
    pub measures: Vec<Measure>,
    /// A row for each stretch of this many milliseconds; 0: one for the whole time.
    pub per: u64,
    /// The order of the rows.
    pub order: Order,
    /// The most groups of the answer: different values of the keys. With [`Question::per`] each group has a row for each stretch; the
    /// reader of questions ensures that all groups have at most [`Question::ROWS_MAX`] rows together.
    pub limit: usize,
    /// A comparison in place of rows.
    pub compare: Option<Compare>,
    /// How long the caller waits for the whole answer, in milliseconds. After that it gets the rows so far.
    pub wait_ms: u64,
    /// The answer has figures that can be merged with those of other nodes, in place of rows; all nodes take this seed for hashes of values.
    pub seed: Option<u64>,
}

impl Question {
    /// The most keys.
    pub const KEYS_MAX: usize = 4;
    /// The most measures.
    pub const MEASURES_MAX: usize = 16;
    /// The most rows of an answer. A week has 10,080 minutes.
    pub const ROWS_MAX: usize = 20_000;
}

/// A column by which events are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(pub Column);

/// Which events count.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// Each of these holds. Without any, every event counts.
    All(Vec<Filter>),
    /// One of these holds. Without any, no event counts.
    Any(Vec<Filter>),
    /// This does not hold.
    Not(Box<Filter>),
    /// A cell compared with a value.
    Test {
        /// The column.
        column: Column,
        /// The comparison.
        is: Is,
        /// The value. It has the form of the column's cells.
        value: Value,
    },
}

impl Filter {
    /// Adds the columns that it reads, one for each comparison.
    pub(crate) fn columns(&self, columns: &mut Vec<Column>) {
        match self {
            Filter::All(filters) | Filter::Any(filters) => filters.iter().for_each(|filter| filter.columns(columns)),
            Filter::Not(filter) => filter.columns(columns),
            Filter::Test { column, .. } => columns.push(*column),
        }
    }

    /// How many comparisons it has.
    pub(super) fn tests(&self) -> usize {
        let mut columns = Vec::new();
        self.columns(&mut columns);
        columns.len()
    }
}

telemetry::closed_list! {
    /// A comparison. Those of an order are for columns without texts, those of parts of texts for columns with texts. A sign precedes the signs
    /// that begin it.
    pub enum Is {
        /// `=`
        Equal = "=",
        /// `!=`
        NotEqual = "!=",
        /// `<`
        Less = "<",
        /// `<=`
        AtMost = "<=",
        /// `>`
        Greater = ">",
        /// `>=`
        AtLeast = ">=",
        /// `starts_with`
        StartsWith = "starts_with",
        /// `ends_with`
        EndsWith = "ends_with",
        /// `contains`
        Contains = "contains",
    }
}

/// A value of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// For a column of texts.
    Text(Box<str>),
    /// For any other column, in the form of its cells: a duration is in microseconds.
    Number(i64),
}

/// A measure of a group of events. Each stored event counts with its weight.
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// `count`: events.
    Count,
    /// `rate`: events in a second.
    Rate,
    /// `sum(bytes_out)`
    Sum(Column),
    /// `mean(duration_ms)`
    Mean(Column),
    /// `min(duration_ms)`
    Min(Column),
    /// `max(duration_ms)`
    Max(Column),
    /// `p95(duration_ms)`: the value that a part of the events, 0 to 1, does not exceed.
    Quantile(f64, Column),
    /// `distinct(package)`: how many different values there are.
    Distinct(Column),
    /// `share(status >= 500)`: the part of the group's events for which the filter holds, 0 to 1.
    Share(Filter),
}

/// The order of the rows of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The place of a measure. With [`Question::per`] rows are in the order of time, and this chooses which groups are in the answer.
    pub measure: usize,
    /// Whether the smallest is the first.
    pub ascending: bool,
}

/// The events with which those of the filter are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// With all other events of the same time.
    Rest,
    /// With the events of the filter so many milliseconds earlier.
    Earlier(u64),
}
