//! The reasons why a policy hides something, in words that clients print.

use crate::format::Format;
use crate::policy::package_version::Since;
use std::fmt;
use telemetry::Millis;

/// Something that a policy hides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// The format, which defines the names.
    pub format: Format,
    /// Its name: `org.example:lamp:1.2`, `rack:3.0.0`.
    pub what: String,
    /// The reason.
    pub why: Why,
    /// The repository that has the policy.
    pub repository: String,
}

/// The reason why something is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// This pattern denies it.
    Denied(String),
    /// The policy has a list of allowed packages, and this is not on it.
    NotAllowed,
    /// It is younger than the cooldown.
    Young {
        /// The date that its age counts from.
        since: Since,
        /// The cooldown, in milliseconds.
        cooldown_ms: i64,
        /// When the cooldown ends, if the age is known.
        until: Option<Millis>,
    },
    /// It has this private prefix, so no upstream may answer for it.
    Private(String),
    /// The path does not identify its package, or the upstream may read the path as another one.
    Unclassified,
    /// It is a list of versions, and some of them may be hidden.
    List,
}

impl Hidden {
    /// The moment at which it becomes visible by itself.
    pub fn until(&self) -> Option<Millis> {
        match self.why {
            Why::Young { until, .. } => until,
            _ => None,
        }
    }

    /// The remedy.
    pub fn hint(&self) -> String {
        let Hidden { what, repository, .. } = self;
        match &self.why {
            Why::Young { .. } => format!(
                "use an older version, or ask who runs this server for `daylight policy allow {repository} {what} --why \
                 REASON`"
            ),
            Why::Private(_) => format!("what has such a name is published here; `daylight repo show {repository}`"),
            _ => format!("`daylight repo show {repository}` shows who runs this server what it says"),
        }
    }
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hidden { what, repository, .. } = self;
        write!(f, "`{what}` is hidden by the policy of `{repository}`: ")?;
        match &self.why {
            Why::Denied(pattern) => write!(f, "`{pattern}` is denied"),
            Why::NotAllowed => f.write_str("it is none of what is allowed"),
            Why::Private(prefix) => write!(f, "names that begin with `{prefix}` are private, and no upstream is asked"),
            Why::Unclassified => f.write_str(self.format.rules().unclassified()),
            Why::List => f.write_str("it lists versions that may be hidden"),
            Why::Young { since, cooldown_ms, until } => {
                write!(f, "versions are not offered before they are {} old", span(*cooldown_ms))?;
                match (since, until) {
                    (Since::Moment(since), Some(until)) => write!(f, "; it is of {since}, and will be at {until}"),
                    (Since::FirstSeen(seen), Some(until)) => {
                        write!(f, "; age unknown: it was first seen here at {seen}, and counts from then until {until}")
                    }
                    _ => f.write_str("; age unknown"),
                }
            }
        }
    }
}

/// A duration in words: `7 days`, `12 hours`, `90 seconds`, in the largest unit that divides it.
fn span(millis: i64) -> String {
    let seconds = millis / 1000;
    let (count, unit) = [(86_400, "day"), (3_600, "hour"), (60, "minute")]
        .into_iter()
        .find(|(unit, _)| seconds >= *unit && seconds % unit == 0)
        .map_or((seconds, "second"), |(unit, name)| (seconds / unit, name));
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_refused_reads_why_and_until_when() {
        let why = Why::Young {
            since: Since::Moment(Millis(0)),
            cooldown_ms: 7 * 86_400_000,
            until: Some(Millis(7 * 86_400_000)),
        };
        let hidden =
            Hidden { format: Format::named("gem").unwrap(), what: "rack:3.0.0".into(), why, repository: "gems".into() };
        assert_eq!(
            hidden.to_string(),
            "`rack:3.0.0` is hidden by the policy of `gems`: versions are not offered before they are 7 days old; it is of \
             1970-01-01T00:00:00.000Z, and will be at 1970-01-08T00:00:00.000Z"
        );
        let unknown = |since, until| {
            let why = Why::Young { since, cooldown_ms: 60_000, until };
            Hidden { why, ..hidden.clone() }.to_string()
        };
        assert!(unknown(Since::FirstSeen(Millis(0)), Some(Millis(60_000))).ends_with(
            "; age unknown: it was first seen here at 1970-01-01T00:00:00.000Z, and counts from then until 1970-01-01T00:01:00.000Z"
        ));
        assert!(unknown(Since::Unknown, None).ends_with("1 minute old; age unknown"));
        assert!(hidden.hint().contains("daylight policy allow gems rack:3.0.0"));
        assert_eq!((span(3_600_000), span(90_000)), ("1 hour".to_owned(), "90 seconds".to_owned()));
    }
}
