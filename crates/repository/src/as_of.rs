//! The moment of an as-of request, and which changes of the journal that moment includes.

use crate::error::{Error, Result};
use store::{Seq, Store};
use telemetry::{Event, Millis};

/// A moment as a URL names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsOf {
    /// The end of this moment.
    Moment(Millis),
    /// Directly after the change with this number.
    Change(Seq),
}

/// A moment as a position in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Past {
    /// The number of the last change that is included.
    pub through: Seq,
    /// An as-of answer contains nothing that is younger than this: the moment in the URL, or the end of time if the URL
    /// has the number of a change.
    pub until: Millis,
    /// Exceptions of policies that were made after this moment do not apply.
    pub exceptions_by: Millis,
}

impl AsOf {
    /// The position of this moment in the journal of this server.
    pub(crate) async fn past(self, store: &Store, now: Millis, event: &mut Event) -> Result<Past> {
        match self {
            AsOf::Moment(moment) if moment > now => Err(Error::Future(format!("{moment}"))),
            AsOf::Change(seq) if seq > store.last() => Err(Error::Future(format!("change {}", seq.0))),
            AsOf::Moment(until) => {
                Ok(Past { through: store.last_change_by(until, event).await?, until, exceptions_by: until })
            }
            AsOf::Change(through) => {
                let exceptions_by = store.changed_at(through, event).await?;
                Ok(Past { through, until: Millis(i64::MAX), exceptions_by })
            }
        }
    }
}
