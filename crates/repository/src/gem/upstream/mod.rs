//! A remote gem repository. It follows the `/versions` of its upstream, and answers everything else from that.
//!
//! In reading order: [`look`] decides when to check the upstream's `/versions`, and [`follow`] does it: [`ask`] sends
//! the requests, [`body`] reads the responses ([`first_body`]: clients read along), [`compare`] finds the new lines,
//! and [`append`] adds them within the limits of [`growth`], unless the file is held back until an operator
//! [accepts](accept) it. [`rows`] stores the lines in the journal, [`index`] keeps them in memory, and [`listing`]
//! computes the versions that they add up to. After a start [`load`] reads them back, with the [`saved`] results.
//! [`answer`] answers questions: [`info`] (with [`doubts`]) and [`download`] with files of the upstream, which the
//! index proves. No upstream is called with a name that the index does not list.

pub(crate) mod accept;
pub(crate) mod ahead;
pub(crate) mod answer;
pub(crate) mod append;
pub(crate) mod arrivals;
pub(crate) mod ask;
pub(crate) mod asking;
pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod correction;
pub(crate) mod dates;
pub(crate) mod dates_file;
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
pub(crate) mod past;
pub(crate) mod rows;
pub(crate) mod saved;
pub(crate) mod take_in;
pub(crate) mod vanished;
pub(crate) mod view;
pub(crate) mod view_versions;

use crate::context::Context;
use crate::error::{Error, Result};
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

impl<'a> RemoteGems<'a> {
    /// A remote repository, given its own indexes.
    pub(crate) fn of(remote: &'a Remote, local: Hosted<'a>) -> Self {
        Self { remote, context: local.context, local, index: &local.repository.shared.gems().followed }
    }
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
    pub(crate) async fn ready(self, event: &mut Event) -> Result<()> {
        self.follower().ready(event).await
    }

    /// The same for a client that requests a name that is not listed.
    pub(crate) async fn ready_for_new(self, event: &mut Event) -> Result<()> {
        self.follower().ready_for_new(event).await
    }

    /// The refusal of a question that remote repositories of gems do not answer.
    pub(crate) fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported(format!("remote repositories of gems do not {what}"))
    }
}
