//! An upstream as of a moment: what had been seen of it by then decides what may be answered of what it has today.

use crate::error::Error;
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

/// The repository as it is today, for a file that policy showed then. Policy is not asked again as of today.
pub(crate) fn today(
    remote: &Remote,
    file: &File<'_>,
    named: Option<PackageVersion<'_>>,
    met: AgeRecord,
    trace: &mut FetchTrace,
) -> Result<Remote, Error> {
    let Remote { remotes, repository, place } = remote;
    let row = Seen { named: named.map(PackageVersion::upstream), met };
    let missing = || Error::NoSuchFile(file.path.to_owned());
    let shown = shown(&row, repository.view(remote.now()));
    trace.let_through = shown.map_err(|why| why.map_or_else(missing, Error::from))?;
    let today = Repository::seen(repository, OPEN.clone(), None);
    let repository = Arc::new(Repository { asks: repository.asks, ..today });
    Ok(Remote { remotes: remotes.clone(), repository, place: place.clone() })
}

/// Why nothing is told of `path` as of then.
pub(crate) async fn early(
    remote: &Remote,
    then: FirstSeenStore<'_>,
    path: &str,
    event: &mut Event,
) -> Result<Error, Error> {
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

/// Nothing is told of what came after the journal had no room for more.
pub(crate) fn over_budget(remote: &Remote) -> Error {
    Error::FirstSeenFull(remote.repository.record.name.clone())
}

/// What an upstream was seen to have.
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
