//! A remote repository of gems: its upstream's `/versions` is followed, and everything else is answered by what that says.
//!
//! In reading order: [`look`] says when the upstream's `/versions` is looked at, and [`follow`] does it: [`ask`] asks, [`body`] reads what
//! comes ([`first_body`]: for clients too), [`compare`] says what is new in it, and [`append`] adds that as far as [`growth`] lets it,
//! unless it is held back until somebody [accepts](accept) it. [`rows`] keeps it in the journal, [`index`] in memory, and
//! [`listing`] says what its lines come to. After a start [`load`] reads it back, with what was [`saved`]. [`answer`] answers questions:
//! [`info`] (with [`doubts`]) and [`download`] with files of the
//! upstream, which the index proves. No name that the index does not list is ever asked for upstream.

pub(crate) mod accept;
pub(crate) mod ahead;
pub(crate) mod answer;
pub(crate) mod append;
pub(crate) mod arrivals;
pub(crate) mod ask;
pub(crate) mod asking;
pub(crate) mod body;
pub(crate) mod calls;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod correction;
pub(crate) mod dates;
pub(crate) mod dates_file;
pub(crate) mod dependencies;
pub(crate) mod doubts;
pub(crate) mod download;
pub(crate) mod explained;
pub(crate) mod fetch_ahead;
pub(crate) mod first_body;
pub(crate) mod follow;
pub(crate) mod forbidden;
pub(crate) mod gemspec;
pub(crate) mod growth;
pub(crate) mod hinted;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod info_rows;
pub(crate) mod learned;
pub(crate) mod listing;
pub(crate) mod load;
pub(crate) mod look;
pub(crate) mod looked;
pub(crate) mod names;
pub(crate) mod past;
pub(crate) mod rows;
pub(crate) mod saved;
pub(crate) mod search;
pub(crate) mod specs;
pub(crate) mod vanished;
pub(crate) mod view;
pub(crate) mod view_versions;

use crate::context::Context;
use crate::error::Error;
use crate::gem::hosted::Hosted;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::index::FollowedIndex;
use crate::upstream::Remote;
use telemetry::{Event, Millis};

/// A remote gem repository, and the tools that it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemoteGems<'a> {
    pub(crate) remote: &'a Remote,
    pub(crate) context: &'a Context,
    /// The indexes that are made from its upstream's, and the cache of views.
    pub(crate) local: Hosted<'a>,
    pub(crate) index: &'a FollowedIndex,
}

impl RemoteGems<'_> {
    pub(crate) fn now(&self) -> Millis {
        self.remote.now()
    }

    /// The follower of the upstream's index. It can outlive the request.
    pub(crate) fn follower(&self) -> Follow {
        Follow { remote: self.remote.clone(), context: self.context.clone() }
    }

    /// Checks the index if it was never seen, or if the last check is too old. If the upstream fails, the known state
    /// is used.
    pub(crate) async fn ready(self, event: &mut Event) -> Result<(), Error> {
        self.follower().ready(event).await
    }

    /// The same for a client that requests a name that is not listed.
    pub(crate) async fn ready_for_new(self, event: &mut Event) -> Result<(), Error> {
        self.follower().ready_for_new(event).await
    }

    /// The refusal of a question that remote repositories of gems do not answer.
    pub(crate) fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported(format!("remote repositories of gems do not {what}"))
    }
}
