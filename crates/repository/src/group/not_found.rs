//! Why no member has what was asked for.

use crate::content::soonest;
use crate::error::Error;
use telemetry::{Event, Millis};

/// The answers of the members that do not have the file.
#[derive(Debug, Default)]
pub(crate) struct NotFound {
    /// The first that failed.
    pub(crate) failed: Option<Error>,
    /// The first that hides it.
    pub(crate) hidden: Option<Error>,
    /// When the first proof ends that there is nothing.
    pub(crate) missing_until: Option<Millis>,
    /// When the first hidden file becomes visible.
    pub(crate) hidden_until: Option<Millis>,
}

impl NotFound {
    /// Adds the answer of a member; `detail` is what operators may know of it.
    pub(crate) fn add(&mut self, error: Error, detail: &str, event: &mut Event) {
        match error {
            Error::Missing { until, .. } => self.missing_until = soonest(self.missing_until, Some(until)),
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

    /// The error for the client. Where a member failed, nobody knows whether there is a file.
    pub(crate) fn error(self, path: &str) -> Error {
        let missing = || match self.missing_until {
            Some(until) => Error::Missing { path: path.to_owned(), until },
            None => Error::NoSuchFile(path.to_owned()),
        };
        self.failed.or(self.hidden).unwrap_or_else(missing)
    }
}
