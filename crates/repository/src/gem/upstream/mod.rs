//! A remote repository of gems: its upstream's `/versions` is followed, and everything else is answered by what that says.
//!
//! In reading order: [`index`] is what is known of the upstream's `/versions`, [`look`] asks the upstream for what is new of it, and
//! [`rows`] keeps that in the journal. [`answer`] answers questions: [`info`] and [`download`] with files of the upstream, which the
//! index proves. No name that the index does not list is ever asked for upstream.

pub(crate) mod answer;
pub(crate) mod download;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod info_rows;
pub(crate) mod listing;
pub(crate) mod look;
pub(crate) mod rows;

use crate::context::Context;
use crate::error::Error;
use crate::gem::upstream::index::FollowedIndex;
use crate::upstream::Remote;
use telemetry::Millis;

/// A remote repository of gems, and what it works with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemoteGems<'a> {
    pub(crate) remote: &'a Remote,
    pub(crate) context: &'a Context,
    pub(crate) index: &'a FollowedIndex,
}

impl RemoteGems<'_> {
    pub(crate) fn now(&self) -> Millis {
        self.remote.now()
    }

    /// The refusal of a question that remote repositories of gems do not answer.
    pub(crate) fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported(format!("remote repositories of gems do not {what}"))
    }
}
