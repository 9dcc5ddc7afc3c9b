//! Combines the reasons why no member has the requested file.

use crate::content::soonest;
use crate::error::Error;
use crate::error::unlisted::Unlisted;
use telemetry::{Event, Millis, Reason};

/// A name that a group asks no upstream for, because a hosted member has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guarded {
    /// The group.
    pub(crate) group: String,
    /// The name: `org.example:lamp`.
    pub(crate) name: String,
    /// The command that shares the name with upstreams; `None`: the name is private.
    pub(crate) share: Option<String>,
}

/// The answers of the members that do not have the file.
#[derive(Debug, Default)]
pub(crate) struct NotFound {
    /// The first failure.
    pub(crate) failed: Option<Error>,
    /// The first refusal by a policy.
    pub(crate) hidden: Option<Error>,
    /// The guarded name, if it keeps the path from upstreams.
    pub(crate) guarded: Option<Guarded>,
    /// When the first negative answer expires.
    pub(crate) missing_until: Option<Millis>,
    /// Why the first negative answer that its upstream could not confirm is not confirmed.
    pub(crate) stale: Option<Reason>,
    /// When the first hidden file becomes visible.
    pub(crate) hidden_until: Option<Millis>,
}

impl NotFound {
    /// Adds the answer of a member. `detail` is for operators only.
    pub(crate) fn add(&mut self, error: Error, detail: &str, event: &mut Event) {
        match error {
            Error::Missing { until, .. } => self.missing_until = soonest(self.missing_until, Some(until)),
            Error::Unlisted(Unlisted { until, stale, .. }) => {
                self.missing_until = soonest(self.missing_until, until);
                self.stale = self.stale.or(stale);
            }
            absent if absent.is_absence() => {}
            Error::Hidden(hidden) => {
                self.hidden_until = soonest(self.hidden_until, hidden.until());
                self.hidden = self.hidden.take().or(Some(Error::Hidden(hidden)));
            }
            failed => {
                if self.failed.is_none() {
                    detail.clone_into(&mut event.detail);
                    self.failed = Some(failed);
                }
            }
        }
    }

    /// The error for the client. If a member failed, it is unknown whether the file exists.
    pub(crate) fn error(self, path: &str) -> Error {
        let (path, until) = (path.to_owned(), self.missing_until);
        let stale = self.stale;
        let missing = || match (self.guarded, until) {
            (Some(Guarded { group, name, share }), until) => Error::Guarded { path, name, group, share, until },
            (None, until) if stale.is_some() => Unlisted { path, until, stale }.into(),
            (None, Some(until)) => Error::Missing { path, until },
            (None, None) => Error::NoSuchFile(path),
        };
        self.failed.or(self.hidden).unwrap_or_else(missing)
    }
}
