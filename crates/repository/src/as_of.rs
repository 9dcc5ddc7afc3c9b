//! The moment as of which somebody wants to see a repository, and which changes of the journal it includes.

use crate::error::Error;
use store::{Seq, Store};
use telemetry::{Event, Millis};

/// The moment, as somebody names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsOf {
    /// The end of this moment.
    Moment(Millis),
    /// After this change.
    Change(Seq),
}

/// The moment, as the journal has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Past {
    /// The last change that counts.
    pub through: Seq,
    /// Nothing that is shown is younger than this: the moment that was named, or the end of time where a change was named.
    pub until: Millis,
    /// Exceptions of policies that were made later do not count.
    pub exceptions_by: Millis,
}

impl AsOf {
    /// That moment in the journal of this server.
    pub(crate) async fn past(self, store: &Store, now: Millis, event: &mut Event) -> Result<Past, Error> {
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
