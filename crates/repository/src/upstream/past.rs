//! An upstream as of a moment. Only files that had been seen by then are answered, from the bytes that are cached
//! today.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::policy::package_version::PackageVersion;
use crate::policy::rules::OPEN;
use crate::repository::Repository;
use crate::tree::file::File;
use crate::upstream::Remote;
use crate::upstream::first_seen::store::{First, FirstSeenStore};
use crate::upstream::release_age::AgeRecord;
use crate::upstream::trace::FetchTrace;
use crate::visible::{Row, shown};
use std::sync::Arc;
use store::State;
use telemetry::{Event, Millis};

/// The repository of today, for a file that the policy showed at that moment. The policy of today is not applied again.
pub(crate) fn today(
    remote: &Remote,
    file: &File<'_>,
    named: Option<PackageVersion<'_>>,
    met: AgeRecord,
    trace: &mut FetchTrace,
) -> Result<Remote> {
    let row = Seen { named: named.map(PackageVersion::upstream), met };
    let missing = || Error::NoSuchFile(file.path.to_owned());
    let shown = shown(&row, remote.repository.view(remote.now()));
    trace.let_through = shown.map_err(|why| why.map_or_else(missing, Error::from))?;
    Ok(unfiltered(remote))
}

/// The repository of today without a policy, for a file that the policy was applied to.
pub(crate) fn unfiltered(remote: &Remote) -> Remote {
    let Remote { remotes, repository, place, .. } = remote;
    let today = Repository::seen(repository, OPEN.clone(), None);
    let repository = Arc::new(Repository { asks: repository.asks, ..today });
    Remote { remotes: remotes.clone(), repository, place: place.clone(), looked_up: None }
}

/// Why there is no answer for `path` as of that moment.
pub(crate) async fn early(remote: &Remote, then: FirstSeenStore<'_>, path: &str, event: &mut Event) -> Result<Error> {
    let first = match then.first(event).await? {
        Some(First { full: true, .. }) => return Ok(over_budget(remote)),
        Some(_) => None,
        None => FirstSeenStore::of(remote).first(event).await?,
    };
    Ok(match first {
        Some(First { since, .. }) => Error::BeforeItsTime { what: remote.repository.record.name.clone(), since },
        None => Error::NoSuchFile(path.to_owned()),
    })
}

/// The refusal for files that may have appeared after the budget for first-seen rows was used up.
pub(crate) fn over_budget(remote: &Remote) -> Error {
    Error::FirstSeenFull(remote.repository.record.name.clone())
}

/// The files that an upstream was seen to have.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) named: Option<PackageVersion<'a>>,
    pub(crate) met: AgeRecord,
}

impl Row for Seen<'_> {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (State::Live, self.met.seen, self.met.seen)
    }

    fn coordinates(&self, _: Format) -> Option<PackageVersion<'_>> {
        self.named.clone()
    }
}
