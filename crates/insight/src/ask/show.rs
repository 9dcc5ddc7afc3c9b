//! Questions, filters and measures in the text form. A written question can be read again.

use super::draft::WAIT_MS;
use super::question::{Compare, Filter, Measure, Question};
use super::{times, value};
use std::fmt::{self, Display, Formatter};

impl Filter {
    /// Each of these holds. One alone stays as it is.
    pub(super) fn all(mut filters: Vec<Filter>) -> Self {
        match filters.len() {
            1 => filters.remove(0),
            _ => Filter::All(filters),
        }
    }

    /// One of these holds. One alone stays as it is.
    pub(super) fn any(mut filters: Vec<Filter>) -> Self {
        match filters.len() {
            1 => filters.remove(0),
            _ => Filter::Any(filters),
        }
    }

    fn joined(filters: &[Filter], word: &str, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, filter) in filters.iter().enumerate() {
            if at > 0 {
                write!(f, " {word} ")?;
            }
            filter.nested(f)?;
        }
        Ok(())
    }

    /// In parentheses, unless it is a comparison or a negation.
    fn nested(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Filter::All(_) | Filter::Any(_) => write!(f, "({self})"),
            Filter::Not(_) | Filter::Test { .. } => write!(f, "{self}"),
        }
    }
}

impl Display for Filter {
    /// The form that [`Filter::from_text`] reads.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Filter::All(filters) => Self::joined(filters, "and", f),
            Filter::Any(filters) => Self::joined(filters, "or", f),
            Filter::Not(filter) => {
                write!(f, "not ")?;
                filter.nested(f)
            }
            Filter::Test { column, is, value } => {
                write!(f, "{} {} {}", column.as_str(), is.as_str(), value::write(value, *column))
            }
        }
    }
}

impl Display for Measure {
    /// The name in questions and answers: `p95(duration_ms)`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Count => write!(f, "count"),
            Measure::Rate => write!(f, "rate"),
            Measure::Sum(column) => write!(f, "sum({})", column.as_str()),
            Measure::Mean(column) => write!(f, "mean({})", column.as_str()),
            Measure::Min(column) => write!(f, "min({})", column.as_str()),
            Measure::Max(column) => write!(f, "max({})", column.as_str()),
            Measure::Quantile(part, column) => {
                // At most two digits behind the point are read.
                let percent = format!("{:.2}", part * 100.0);
                write!(f, "p{}({})", percent.trim_end_matches('0').trim_end_matches('.'), column.as_str())
            }
            Measure::Distinct(column) => write!(f, "distinct({})", column.as_str()),
            Measure::Share(filter) => write!(f, "share({filter})"),
        }
    }
}

impl Display for Question {
    /// The form that [`Question::from_text`] reads, with absolute times.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let measures: Vec<String> = self.measures.iter().map(Measure::to_string).collect();
        let keys: Vec<&str> = self.by.iter().map(|key| key.0.as_str()).collect();
        let mut parts = Vec::new();
        // A comparison has no figures of its own.
        if self.compare.is_none() {
            parts.push(measures.join(", "));
        }
        if !keys.is_empty() {
            parts.push(format!("by {}", keys.join(", ")));
        }
        if self.filter != Filter::All(Vec::new()) {
            parts.push(format!("where {}", self.filter));
        }
        parts.push(format!("from {} to {}", self.from, self.to));
        if self.per > 0 {
            parts.push(format!("per {}", times::write_stretch(self.per)));
        }
        let default = self.order.measure == 0 && !self.order.ascending;
        if let Some(measure) = measures.get(self.order.measure).filter(|_| !default) {
            parts.push(format!("order {}{measure}", if self.order.ascending { "" } else { "-" }));
        }
        parts.push(format!("top {}", self.limit));
        match self.compare {
            Some(Compare::Rest) => parts.push("compare rest".to_owned()),
            Some(Compare::Earlier(millis)) => parts.push(format!("compare -{}", times::write_stretch(millis))),
            None => {}
        }
        if self.wait_ms != WAIT_MS {
            parts.push(format!("wait {}", times::write_stretch(self.wait_ms)));
        }
        f.write_str(&parts.join(" "))
    }
}
