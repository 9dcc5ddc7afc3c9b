//! A repository that the caller of a page or of an API call may read, as a URL names it.

use crate::access::Caller;
use crate::app::App;
use crate::error::Result;
use front::Request;
use repository::{PackagesAsk, Repository, Scope, moment};
use std::sync::Arc;
use store::Stamp;
use telemetry::{Event, works_for};

/// A repository, as of now or of a moment, and the caller who may read it.
pub(crate) struct ReadRepository {
    pub(crate) caller: Caller,
    pub(crate) repository: Arc<Repository>,
    settings: Stamp,
    /// Its name as the URL has it, with the moment.
    pub(crate) segment: String,
}

impl ReadRepository {
    /// The repository that a segment of a URL names: `NAME`, or `NAME@MOMENT`. A caller who may not read it gets the same errors as
    /// for its content.
    pub(crate) async fn named(app: &App, segment: &str, request: &Request, event: &mut Event) -> Result<Self> {
        let (name, as_of) = match segment.split_once('@') {
            Some((name, moment)) => (name, Some(moment::as_of(moment)?)),
            None => (segment, None),
        };
        let (repository, settings) = app.access.repository(&app.repositories, name, request, event).await?;
        let caller = app.access.content(request, Scope::Read, &repository, event).await?;
        let repository = match as_of {
            Some(as_of) => app.repositories.as_of(&repository, as_of, event).await?,
            None => repository,
        };
        works_for(repository.id.0);
        event.subject.repository = repository.record.name.as_str().into();
        Ok(Self { caller, repository, settings, segment: segment.to_owned() })
    }

    /// Whether the caller may know of this repository, which may be a member.
    pub(crate) fn may_read(&self, other: &Repository) -> bool {
        other.id == self.repository.id || self.caller.reads(other)
    }

    /// The revision of the settings that it was read from.
    pub(crate) fn settings(&self) -> &Stamp {
        &self.settings
    }

    /// The question for its packages.
    pub(crate) fn packages(&self) -> PackagesAsk {
        PackagesAsk::new(&self.repository, self.settings)
    }
}
