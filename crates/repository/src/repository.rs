//! One repository as it is set, and the table of all repositories.

mod past;
pub(crate) mod shared;

use crate::as_of::Past;
use crate::format::Format;
use crate::policy::rules::OPEN;
use crate::policy::rules::{Rules, View};
use crate::record::RepositoryRecord;
use crate::repository::shared::Shared;
use std::collections::HashMap;
use std::sync::Arc;
use store::{Origin, RepositoryId, Stamp};
use telemetry::Millis;

/// One repository as it is set now.
#[derive(Debug)]
pub struct Repository {
    /// Its identity in the store.
    pub id: RepositoryId,
    /// Its settings.
    pub record: RepositoryRecord,
    /// Its settings as the store has them. A change that relies on them expects exactly these.
    pub(crate) stored: Arc<store::RepositoryRecord>,
    /// Its format.
    pub format: Format,
    /// Its policy; where it is seen through a group, with that of the group.
    pub rules: Rules,
    /// The moment as of which it is looked at; `None`: as it is.
    pub as_of: Option<Past>,
    /// Whose what is kept of its upstream is.
    pub(crate) origin: Origin,
    /// What it has beside its settings; the same while it lives, whatever those become.
    pub shared: Arc<Shared>,
    /// Whether its upstream is asked for what is not known of it.
    pub asks: bool,
    /// Of a group: the hosted and remote repositories that it comes to, in order, seen through it.
    pub leaves: Arc<[Arc<Repository>]>,
}

impl Repository {
    /// One that is looked at as it is, by its own rules; a group of nothing yet.
    pub(crate) fn new(
        id: RepositoryId,
        record: RepositoryRecord,
        stored: Arc<store::RepositoryRecord>,
        format: Format,
        shared: Arc<Shared>,
    ) -> Self {
        let (origin, rules) = (Self::origin_of(id, &record), Rules::of(&record, format));
        Self { id, record, stored, format, rules, as_of: None, origin, shared, asks: true, leaves: Arc::default() }
    }

    /// The repository seen at `now`.
    pub fn view(&self, now: Millis) -> View<'_> {
        let exceptions_by = self.as_of.map(|past| past.exceptions_by);
        View { as_of: self.as_of.map(|past| past.until), exceptions_by, now, rules: &self.rules }
    }

    /// All that it holds at `now`, whatever its policy hides: for those who change it.
    pub(crate) fn whole(&self, now: Millis) -> View<'static> {
        View { as_of: None, exceptions_by: None, now, rules: &OPEN }
    }

    /// The next moment at which an exception ends that lets something of it be seen.
    pub(crate) fn ends(&self, now: Millis) -> Option<Millis> {
        let all = self.leaves.iter().map(|leaf| &leaf.rules).chain([&self.rules]);
        all.filter_map(|rules| rules.ends(now)).min()
    }

    /// The same, looked at with these rules and as of this moment.
    pub(crate) fn seen(&self, rules: Rules, as_of: Option<Past>) -> Self {
        let Self { id, record, stored, format, origin, shared, asks, leaves, .. } = self;
        let (record, stored, shared, leaves) = (record.clone(), stored.clone(), shared.clone(), leaves.clone());
        Self { id: *id, record, stored, format: *format, rules, as_of, origin: *origin, shared, asks: *asks, leaves }
    }

    /// The same, with upstreams that are not asked, so that it answers with what is known.
    pub(crate) fn unasked(&self) -> Self {
        let leaves = self.leaves.iter().map(|leaf| Arc::new(leaf.unasked())).collect();
        Self { asks: false, leaves, ..self.seen(self.rules.clone(), self.as_of) }
    }

    /// Whose what is kept of the upstream is of a repository that is set so.
    pub(crate) fn origin_of(id: RepositoryId, record: &RepositoryRecord) -> Origin {
        Origin::new(id, record.remote.as_ref().map_or(&[], |remote| &remote.urls))
    }
}

/// All repositories by name, and the revision of the settings they were read at.
#[derive(Debug)]
pub struct RepositoryTable {
    /// By name. A `HashMap` is enough: there are hundreds at most.
    pub by_name: HashMap<String, Arc<Repository>>,
    /// Taken before they were read. While it holds the list is current; a page that was made from it carries it too.
    pub stamp: Stamp,
}
