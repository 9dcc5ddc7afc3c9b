//! The moment of an as-of request, and which changes of the journal that moment includes.

use crate::error::{Error, Result};
use format::koji::model::EventId;
use store::{Seq, Store};
use telemetry::{Event, Millis};

/// A moment as a URL names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsOf {
    /// The end of this moment.
    Moment(Millis),
    /// Directly after the change with this number.
    Change(Seq),
    /// An event of Koji, of the one Koji repository that is asked, or that a group has.
    Koji(EventId),
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
    /// The event of Koji that a Koji repository answers as of.
    pub koji: Option<EventId>,
}

impl AsOf {
    /// The position of this moment in the journal of this server; `None`: it is one of Koji's, which a hub places.
    pub(crate) async fn past(self, store: &Store, now: Millis, event: &mut Event) -> Result<Option<Past>> {
        let past = match self {
            AsOf::Koji(_) => return Ok(None),
            AsOf::Moment(moment) if moment > now => return Err(Error::Future(format!("{moment}"))),
            AsOf::Change(seq) if seq > store.last() => return Err(Error::Future(format!("change {}", seq.0))),
            AsOf::Moment(until) => {
                let through = store.last_change_by(until, event).await?;
                Past { through, until, exceptions_by: until, koji: None }
            }
            AsOf::Change(through) => {
                let exceptions_by = store.changed_at(through, event).await?;
                Past { through, until: Millis(i64::MAX), exceptions_by, koji: None }
            }
        };
        Ok(Some(past))
    }
}
