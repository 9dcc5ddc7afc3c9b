//! The reasons why a policy hides something, in words that clients print.

use crate::format::Format;
use crate::policy::package_version::Since;
use std::fmt;
use telemetry::Millis;

/// The most hidden versions of a list that are named with the reason.
const NAMED: usize = 10;

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

    /// The text about a list of `all` versions without the `hidden` ones. It names the first of them, each with the rule.
    pub(crate) fn describe(all: usize, hidden: &[Hidden]) -> String {
        left_out(all, hidden.len(), hidden.iter().map(ToString::to_string))
    }

    /// The name of the rule that hides it. A closed list.
    pub fn rule(&self) -> &'static str {
        match self.why {
            Why::Denied(_) => "deny",
            Why::NotAllowed => "allow",
            Why::Young { .. } => "cooldown",
            Why::Private(_) => "private",
            Why::Unclassified | Why::List => "unclassified",
        }
    }

    /// The date that its age counts from, if it is hidden because of its age.
    pub fn since(&self) -> Option<Millis> {
        match self.why {
            Why::Young { since: Since::Moment(since) | Since::By(since) | Since::FirstSeen(since), .. } => Some(since),
            _ => None,
        }
    }

    /// The rule in words, without the moments.
    pub fn rule_in_words(&self) -> String {
        match &self.why {
            Why::Denied(pattern) => format!("`{pattern}` is denied"),
            Why::NotAllowed => "it is not on the list of allowed packages".into(),
            Why::Private(prefix) => {
                format!("names that begin with `{prefix}` are private, so no upstream is asked for them")
            }
            Why::Unclassified => self.format.rules().unclassified().into(),
            Why::List => "it lists versions, some of which may be hidden".into(),
            Why::Young { cooldown_ms, .. } => format!("versions are hidden until they are {} old", span(*cooldown_ms)),
        }
    }

    /// The command with which an administrator lets the version through, for a shell. `None`: no single version can be let through, or
    /// its name has a `*`, which would let others through, too.
    pub fn command(&self) -> Option<String> {
        let Hidden { what, repository, .. } = self;
        let is_young = matches!(self.why, Why::Young { .. });
        let word = format::shell::word(what);
        (is_young && !what.contains('*')).then(|| format!("daylight policy allow {repository} {word} --why REASON"))
    }

    /// The same reason for a caller who may not read the repository that has the policy.
    pub fn unnamed(&self) -> String {
        self.to_string().replacen(&format!("the policy of `{}`", self.repository), "a policy", 1)
    }

    /// The remedy.
    pub fn hint(&self) -> String {
        let repository = &self.repository;
        match &self.why {
            Why::Young { since: Since::Unknown | Since::FirstSeen(_), .. } if self.format.is_tree() => {
                let command = self.command().map_or_else(String::new, |command| format!(" with `{command}`"));
                format!(
                    "the upstream sends no `Last-Modified`, so its older versions have no date either: an administrator lets this one through{command}"
                )
            }
            Why::Young { .. } => match self.command() {
                Some(command) => format!("use an older version, or ask an administrator for `{command}`"),
                None => format!(
                    "use an older version; an administrator sees the policy with `daylight repo show {repository}`"
                ),
            },
            Why::Private(_) => format!(
                "only hosted repositories have such names; an administrator sees the policy with `daylight repo show {repository}`"
            ),
            _ => format!("an administrator sees the policy with `daylight repo show {repository}`"),
        }
    }
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hidden { what, repository, .. } = self;
        write!(f, "`{what}` is hidden by the policy of `{repository}`: {}", self.rule_in_words())?;
        let Why::Young { since, until, .. } = &self.why else { return Ok(()) };
        match (since, until) {
            (Since::Moment(since), Some(until)) => {
                write!(f, "; this one is from {since}, and is shown from {until} on")
            }
            (Since::By(by), Some(until)) => {
                write!(
                    f,
                    "; this one is not older than can be proven: its upstream had it by {by}, and it is shown from {until} on"
                )
            }
            (Since::FirstSeen(seen), Some(until)) => {
                write!(
                    f,
                    "; this one is not older than can be proven: nothing dates it, so it counts from {seen}, when this server first saw it, \
                     and it is shown from {until} on"
                )
            }
            _ => f.write_str("; this one is not older than can be proven: nothing dates it"),
        }
    }
}

/// The text about a list of `all` versions without `count` of them. `why` makes a sentence for each of these; only the first are made.
pub(crate) fn left_out(all: usize, count: usize, why: impl Iterator<Item = String>) -> String {
    let more = match count.saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let named = why.take(NAMED).collect::<Vec<_>>().join("; ");
    format!("left out are {count} of {all} versions: {named}{more}")
}

/// A duration in words: `7 days`, `12 hours`, `90 seconds`, in the largest unit that divides it.
pub(crate) fn span(millis: i64) -> String {
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
    fn of_many_versions_that_are_left_out_only_the_named_ones_are_put_into_words() {
        let why = (0..).map(|at| if at < NAMED { at.to_string() } else { unreachable!("it is not shown") });
        assert!(left_out(5000, 4000, why).ends_with("8; 9; and 3990 more"));
    }

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
            "`rack:3.0.0` is hidden by the policy of `gems`: versions are hidden until they are 7 days old; this one is from \
             1970-01-01T00:00:00.000Z, and is shown from 1970-01-08T00:00:00.000Z on"
        );
        let unknown = |since, until| {
            let why = Why::Young { since, cooldown_ms: 60_000, until };
            Hidden { why, ..hidden.clone() }.to_string()
        };
        assert!(unknown(Since::FirstSeen(Millis(0)), Some(Millis(60_000))).ends_with(
            "; this one is not older than can be proven: nothing dates it, so it counts from 1970-01-01T00:00:00.000Z, when this server first \
             saw it, and it is shown from 1970-01-01T00:01:00.000Z on"
        ));
        assert!(unknown(Since::By(Millis(0)), Some(Millis(60_000))).ends_with(
            "not older than can be proven: its upstream had it by 1970-01-01T00:00:00.000Z, and it is shown from 1970-01-01T00:01:00.000Z on"
        ));
        assert!(
            unknown(Since::Unknown, None)
                .ends_with("1 minute old; this one is not older than can be proven: nothing dates it")
        );
        assert!(hidden.hint().contains("daylight policy allow gems rack:3.0.0"));
        assert_eq!(hidden.rule_in_words(), "versions are hidden until they are 7 days old");
        let command = |what: &str| Hidden { what: what.into(), ..hidden.clone() }.command();
        assert_eq!(command("a$(x):1").unwrap(), "daylight policy allow gems 'a$(x):1' --why REASON");
        assert_eq!(command("a*:1"), None, "it would let other versions through, too");
        assert_eq!((span(3_600_000), span(90_000)), ("1 hour".to_owned(), "90 seconds".to_owned()));
    }
}
